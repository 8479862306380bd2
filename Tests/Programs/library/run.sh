#!/usr/bin/env bash
# ScriptHost as a library: the example package hooks its own build, in debug with the package beside it, and in release with the
# package as others get it, by URL and version.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"

cd "$work"
capture debug swift run --package-path "$root/examples/library" --scratch-path "$root/.build/library-example" -q
check 'debug: it builds and runs' grep -qx 0 debug.status
same 'debug: what it says' "$root/examples/library/expected.txt" debug.out

# A repository of the sources as they are, with a version.
mkdir -p "$work/ScriptHost" "$work/library"
tar -C "$root" --exclude=./.build --exclude=./.git -cf - . | tar -x -C "$work/ScriptHost"
git -C "$work/ScriptHost" init -q
git -C "$work/ScriptHost" add -A
git -C "$work/ScriptHost" -c user.name=test -c user.email=test@example.invalid commit -qm 'as it is'
git -C "$work/ScriptHost" tag 1.0.0
cp -R "$root/examples/library/." "$work/library"
rm -rf "$work/library/.build"
sed -i "s|\.package(name: \"ScriptHost\", path: \"../..\")|.package(url: \"file://$work/ScriptHost\", from: \"1.0.0\")|" "$work/library/Package.swift"
check 'the example depends on a URL' grep -q 'file://' "$work/library/Package.swift"
capture release swift run --package-path "$work/library" -c release -q
check 'release, by URL: it builds and runs' grep -qx 0 release.status
same 'release, by URL: what it says' "$root/examples/library/expected.txt" release.out
[ "$wrong" -eq 0 ] || cat debug.err release.err >&2
finish
