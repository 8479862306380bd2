#!/usr/bin/env bash
# Screens, controls and delegates as data: a toolkit, a reactive library with delegate proxies, and a program that knows nothing of us, each
# compiled by itself at -Onone and -O.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"

cd "$work"

# records KIND: the kind's records of the last run, as lines of name and fields without what differs from run to run.
records() {
  sed -n "s/.*\"kind\":\"$1\",\"name\":\"\([^\"]*\)\".*\"fields\":\(.*\)}\$/\1 \2/p; s/.*\"kind\":\"$1\",\"name\":\"\([^\"]*\)\"[^{]*}\$/\1/p" events.jsonl |
    sed 's/,"session":"[0-9a-f]*"//; s/"duration_ns":[0-9]*/"duration_ns":N/'
}

# watched NAME ARGUMENTS…: runs the program alone and with the patch of that name; its records are in NAME.said.
watched() {
  local name=$1
  shift
  rm -f events.jsonl
  capture alone ./app "$name" "$@"
  ended "$level: $name: the program ends well alone" alone
  capture "$name" "$scripthost" run --state state --events events.jsonl --patches "$here/patches/$name.lua" -- ./app "$name" "$@"
  unchanged "$level: $name: own overrides and callbacks run as without rules" alone "$name"
  # What is told some time after a call is in no certain order with what others do meanwhile.
  records "${kind:-event}" | if [ "${sorted:-}" ]; then LC_ALL=C sort; else cat; fi >"$name.said"
  same "$level: $name: what is recorded" "$here/expected/$name" "$name.said"
}

for level in -Onone -O; do
  compile=(swiftc -swift-version 5 "$level" -suppress-warnings -Xlinker -rpath -Xlinker '$ORIGIN' -I. -L.)
  "${compile[@]}" -parse-as-library -emit-library -emit-module -module-name Toolkit "$here/Toolkit.swift" -o libToolkit.so
  "${compile[@]}" -parse-as-library -emit-library -emit-module -module-name Reactive -lToolkit "$here/Reactive.swift" -o libReactive.so
  "${compile[@]}" -parse-as-library -emit-library -module-name Later -lToolkit "$here/Later.swift" -o libLater.so
  "${compile[@]}" -parse-as-library -emit-library -emit-module -module-name Naive -lToolkit "$here/Naive.swift" -o libNaive.so
  "${compile[@]}" -module-name App -lToolkit -lReactive -lNaive "$here/main.swift" -o app

  kind=screen watched screens ./libLater.so
  kind=screen watched handlers
  watched controls
  watched lists
  watched reactive

  # The traps of proxies: a naive tracker falls into each of them, the rules do not.
  for trap in identity cycle dangling; do
    capture naive env SWIFT_BACKTRACE=enable=no timeout 60 ./app wars $trap naive
    check "$level: $trap: a naive tracker ends the program" [ "$(cat naive.status)" -gt 128 ]
    capture alone ./app wars $trap
    rm -f events.jsonl
    capture ours "$scripthost" run --state state --events events.jsonl --patches "$here/patches/wars.lua" -- ./app wars $trap
    unchanged "$level: $trap: with the rules it goes on as it did" alone ours
    records event >ours.said
    case $trap in
      identity) wanted='list.select {"row":1}' ;;
      cycle) wanted='list.select {"row":2}' ;;
      dangling) wanted=$'grid.select {"row":3}\ngrid.select {"row":4}' ;;
    esac
    same "$level: $trap: and each call is one event" <(echo "$wanted") ours.said
  done
  sorted=yes watched exposures
  sorted=yes watched taps

  rm -f events.jsonl
  capture alone ./app threads
  capture threads "$scripthost" run --state state --events events.jsonl --patches "$here/patches/threads.lua" -- ./app threads
  unchanged "$level: threads: the program goes on as it did" alone threads
  judged "$level" python3 "$here/threads.py" events.jsonl

  # How long screens take to be ready, and what of it is whose.
  rm -f events.jsonl
  capture loads "$scripthost" run --state state --events events.jsonl --patches "$here/patches/loads.lua" -- ./app screens ./libLater.so
  capture alone ./app screens ./libLater.so
  unchanged "$level: loads: the program goes on as it did" alone loads
  if python3 -B "$here/loads.py" events.jsonl >loads.said; then good "$level: $(cat loads.said)"; else bad "$level: what screens take to load" "$(cat loads.said)"; fi

  # What is wrong is told when the rule is loaded, in one sentence.
  name='' sentence=''
  while IFS= read -r line; do
    case $line in
      '=== '*) name=${line#=== } ;;
      '> '*) sentence=${line#> } ;;
      *)
        printf 'patch { id = "wrong", api = 1 }\n%s\n' "$line" >wrong.lua
        capture wrong "$scripthost" run --state state --patches wrong.lua -- ./app handlers
        says "$level: $name" wrong.err "$sentence"
        ;;
    esac
  done <"$here/wrong.lua"
done

# The page has the screens.
capture screens "$scripthost" run --state reported --patches "$here/patches/screens.lua" -- ./app screens
"$scripthost" report --state reported -o report.html >report.log 2>&1 || true
says 'the report has the path' report.html '/Home/PlainController'
finish
