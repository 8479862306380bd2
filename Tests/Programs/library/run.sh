#!/usr/bin/env bash
# ScriptHost as a library: the example package and the code of the documentation hook their own builds, optimised and not, with the
# package as others get it, by URL and version.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
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

# built NAME COMMAND…: builds both programs with `swift build COMMAND…`; what it says is in NAME-build.err.
built() { capture "$1-build" swift build "${@:2}" -q; }

# runs NAME COMMAND…: runs both with `swift run COMMAND…`.
runs() {
  local name=$1
  shift
  check "$name: the example is built" grep -qx 0 "$name-build.status"
  capture "$name" swift run "$@" -q till
  check "$name: the example runs" grep -qx 0 "$name.status"
  same "$name: what it says" "$root/examples/library/expected.txt" "$name.out"
  capture "$name-guide" swift run "$@" -q guide
  check "$name: the code of the documentation runs" grep -qx 0 "$name-guide.status"
  same "$name: what it prints is what it says it prints" guide.expected "$name-guide.out"
  [ "$wrong" -eq 0 ] || grep -h 'error:\|crash' "$name-build.err" "$name.err" "$name-guide.err" | sort -u | head -20 >&2 || true
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
release=(--package-path byurl -c release)
built release "${release[@]}"
runs release "${release[@]}"

# The program's own modules without optimisation, on the library that is built: generic code of ours is then called, not specialised.
sed -i 's|[tT]arget(name: "[^"]*"|&, UNOPTIMISED|; s|, UNOPTIMISED\(, dependencies: \[.*\]\))|\1, swiftSettings: [.unsafeFlags(["-Onone"])])|
  s|, UNOPTIMISED)|, swiftSettings: [.unsafeFlags(["-Onone"])])|' byurl/Package.swift
check 'all three targets are built without optimisation' [ "$(grep -c -- '-Onone' byurl/Package.swift)" -eq 3 ]
built debug "${release[@]}"
runs debug "${release[@]}"

# The documentation itself: every link leads somewhere.
modules=$(find "$work/byurl/.build" -type d -name Modules | head -n 1)
mkdir -p graphs
capture graph swift symbolgraph-extract -module-name HookRuntime -target x86_64-unknown-linux-gnu -I "$modules" \
  -I "$root/Sources/CHookTrampoline/include" -Xcc -fmodule-map-file="$(dirname "$modules")/CHookTrampoline.build/module.modulemap" \
  -minimum-access-level public -output-dir graphs
capture docc docc convert "$catalog" --additional-symbol-graph-dir graphs --fallback-display-name HookRuntime \
  --fallback-bundle-identifier HookRuntime --output-path documentation --warnings-as-errors
check 'the documentation is made' grep -qx 0 docc.status
: >none
grep -h 'warning:\|error:' docc.out docc.err >complaints || true
same 'the documentation has no broken or ambiguous link and no undocumented parameter' none complaints
finish
