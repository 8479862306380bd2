#!/usr/bin/env bash
# ScriptHost as a library: the example package and the code of the documentation hook their own builds, optimised and not; the package
# can be depended on by URL and version. LIBRARY_WHOLE=1 builds all of it as such a dependency, which takes minutes.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../support/library.sh"
catalog=$root/Sources/HookRuntime/HookRuntime.docc
cd "$work"

# guide DIRECTORY: the code of all articles as a program there, and what it says it prints.
guide() {
  local article name calls=''
  mkdir -p "$1"
  : >guide.expected
  for article in "$catalog"/*.md; do
    name=$(basename "$article" .md)
    # What begins with `extension` belongs outside of functions.
    awk -v name="$name" '
      /^```swift$/ { inside = 1; block = ""; next }
      /^```$/ && inside { inside = 0; if (block ~ /^extension /) top = top block; else body = body block; next }
      inside { block = block $0 "\n" }
      END { printf "import ScriptHost\nimport Shop\n\n%sfunc %s() async throws {\n%s}\n", top, tolower(name), body }
    ' "$article" >"$1/$name.swift"
    awk '/^```swift$/ { inside = 1 } /^```$/ { inside = 0 } inside' "$article" | sed -n 's|.*// prints: ||p' >>guide.expected
    calls="$calls    try await ${name,,}()"$'\n'
  done
  printf '@main struct Guide {\n  static func main() async throws {\n%s  }\n}\n' "$calls" >"$1/Guide.swift"
}

# example DIRECTORY DEPENDENCY: the example package with the guide as another program, depending on ScriptHost as given.
example() {
  mkdir -p "$1"
  cp -R "$root/examples/library/Sources" "$root/examples/library/Package.swift" "$1"
  sed -i -e "s|\.package(name: \"ScriptHost\", path: \"../..\")|$2|" \
    -e 's|^  \]$|    .executableTarget(name: "guide", dependencies: ["Shop", .product(name: "ScriptHost", package: "ScriptHost")]),\n  ]|' \
    "$1/Package.swift"
  guide "$1/Sources/guide"
}

# A repository of the sources as they are, with a version.
mkdir -p ScriptHost
tar -C "$root" --exclude=./.build --exclude=./.git -cf - . | tar -x -C ScriptHost
git -C ScriptHost init -q
git -C ScriptHost add -A
git -C ScriptHost -c user.name=test -c user.email=test@example.invalid commit -qm 'as it is'
git -C ScriptHost tag 1.0.0
example byurl ".package(url: \"file://$work/ScriptHost\", from: \"1.0.0\")"
check 'the example depends on a URL and a version' grep -q 'url: "file://.*from: "1.0.0"' byurl/Package.swift
# runs NAME PROGRAM EXPECTED: the program ends well and says what it is to say.
runs() {
  capture run "./$2"
  ended "$1: $2 runs" run
  same "$1: what $2 says" "$3" run.out
}

# programs LEVEL: both programs, with the module they hook, on the library that was built. At -Onone the generic code of ours that they use is
# called, not specialised.
programs() {
  local level=$1
  mkdir -p "built$level"
  swiftc "$level" -swift-version 6 -parse-as-library -module-name Shop -emit-module -emit-module-path "built$level/Shop.swiftmodule" -c byurl/Sources/Shop/*.swift \
    -whole-module-optimization -o "built$level/Shop.o"
  for each in till guide; do
    against_host "$level" -parse-as-library -module-name "$each" -I "built$level" byurl/Sources/$each/*.swift "built$level/Shop.o" -o "built$level/$each"
  done
}
for level in -O -Onone; do
  programs "$level" >build.log 2>&1 || bad "$level: the programs are built" "$(grep -h 'error:' build.log | sort -u | head -20)"
  runs "$level" "built$level/till" "$root/examples/library/expected.txt"
  runs "$level" "built$level/guide" guide.expected
done

# By URL and version. Flags that the package manager calls unsafe it may refuse in a dependency.
swift package --package-path "$root" --scratch-path "$work/described" dump-package >description
check 'no target has unsafe flags' bash -c '! grep -q unsafeFlags description'
package=(--package-path byurl -c release)
capture resolved swift build "${package[@]}" --target Shop -q
ended 'a package that depends on it by URL and version is planned' resolved
if [ "${LIBRARY_WHOLE:-}" ]; then
  capture built swift build "${package[@]}" -q
  ended 'and built' built
  binaries=$(swift build "${package[@]}" --show-bin-path)
  for each in till guide; do cp "$binaries/$each" .; done
  runs whole till "$root/examples/library/expected.txt"
  runs whole guide guide.expected
fi

# The documentation itself: every link leads somewhere.
modules=$products/Modules
mkdir -p graphs
capture graph swift symbolgraph-extract -module-name HookRuntime -target x86_64-unknown-linux-gnu -I "$modules" \
  -I "$root/Sources/CHookTrampoline/include" -Xcc -fmodule-map-file="$products/CHookTrampoline.build/module.modulemap" \
  -I "$root/Sources/CFrame/include" -Xcc -fmodule-map-file="$products/CFrame.build/module.modulemap" \
  -minimum-access-level public -output-dir graphs
capture docc docc convert "$catalog" --additional-symbol-graph-dir graphs --fallback-display-name HookRuntime \
  --fallback-bundle-identifier HookRuntime --output-path documentation --warnings-as-errors
check 'the documentation is made' grep -qx 0 docc.status
: >none
grep -h 'warning:\|error:' docc.out docc.err >complaints || true
same 'the documentation has no broken or ambiguous link and no undocumented parameter' none complaints
finish
