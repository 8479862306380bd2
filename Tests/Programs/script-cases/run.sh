#!/usr/bin/env bash
# Each case of docs/behaviours.md about values and calls, from Lua: as a patch at the program's start, and as input of a console in the
# running program. What a case says that it prints, and that the program says then, is said both ways.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
cd "$work"
ulimit -c 0
# said FILE PREFIX: the lines that a case speaks of.
said() { sed -n "s/^-- $2: //p" "$1" | sort; }
# compare NAME EXPECTED FOUND: each line that is expected is there, as often as it is expected.
compare() {
  uniq "$2" >wanted.lines
  grep -Fxf wanted.lines "$3" | sort >found.lines || :
  if [ -s "$3" ] && cmp -s "$2" found.lines; then good "$1"; else bad "$1" "$(diff "$2" found.lines)" "found: $(head -c 6000 "$3")"; fi
}
for level in -Onone -O; do
  rm -rf program && mkdir program
  compile=(swiftc -swift-version 5 "$level" -suppress-warnings -Iprogram -Lprogram)
  for module in Kinds Other; do
    "${compile[@]}" -parse-as-library -emit-library -emit-module -module-name $module -emit-module-path program/$module.swiftmodule \
      -o program/lib$module.so "$here/$module.swift" || fail "$module.swift does not compile"
  done
  "${compile[@]}" -lKinds -lOther -Xlinker -rpath -Xlinker '$ORIGIN' -module-name main -o program/main "$here/main.swift" || fail 'main.swift does not compile'
  for case in "$here"/cases/${CASES:-}*.lua; do
    name="$level: $(sed -n '1s/^-- //p' "$case" | cut -c 1-90)"
    said "$case" prints >prints
    said "$case" program >program.said
    capture_loaded patch timeout 60 "$scripthost" run -v --state state --patches "$case" -- program/main
    ended "$name as a patch: the program ends" patch
    sed -n 's/^scripthost: [^ ]*\.lua:[0-9]*: //p' patch.err >patch.said
    compare "$name as a patch: what it prints" prints patch.said
    compare "$name as a patch: what the program says" program.said patch.out
    said "$case" told >told
    if [ -s told ]; then
      while IFS= read -r sentence; do says "$name as a patch: told: $sentence" patch.err "$sentence"; done <told
    elif grep -aE 'runs instead|stands\)|stopped' patch.err >failures; then bad "$name as a patch: no handler fails" "$(cat failures)"; else good "$name as a patch: no handler fails"; fi

    : >console.program
    mkfifo word
    exec 7<>word
    "$scripthost" run --state state -- program/main wait <&7 >console.program 2>console.program.err &
    pid=$!
    for _ in $(seq 500); do grep -q waits console.program && break; sleep 0.02; done
    { cat "$case"; printf '\nswift.call "main.workNow()"\n'; } >input.lua
    capture console timeout 60 "$scripthost" attach --write --state state $pid <input.lua
    echo go >&7
    status=0
    wait $pid || status=$?
    exec 7>&-
    rm word
    ended "$name in the console: the snippet ends" console
    sed 's/\\t/\t/g' console.out >console.said
    check "$name in the console: the program ends" [ $status = 0 ]
    compare "$name in the console: what it prints" prints console.said
    while IFS= read -r sentence; do says "$name in the console: told: $sentence" console.program.err "$sentence"; done <told
    compare "$name in the console: what the program says" program.said console.program
  done
done
finish
