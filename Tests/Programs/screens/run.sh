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

  # What the rules take.
  rm -rf costs
  judged "$level" env PYTHONPATH="$here/../units:${PYTHONPATH:-}" python3 -B "$here/costs.py" "$scripthost" ./app "$here/patches/living.lua" "$work/costs"

  # What is wrong is told when the rule is loaded, in one sentence: each is a patch of its own, and one program loads all of them.
  rm -rf wrong && mkdir wrong
  names=() sentences=()
  while IFS= read -r line; do
    case $line in
      '=== '*) names+=("${line#=== }") ;;
      '> '*) sentences+=("${line#> }") ;;
      *) printf 'patch { id = "wrong%s", api = 1 }\n%s\n' ${#names[@]} "$line" >wrong/wrong${#names[@]}.lua ;;
    esac
  done <"$here/wrong.lua"
  capture wrong "$scripthost" run --state state --patches wrong -- ./app handlers
  for each in "${!names[@]}"; do
    grep -aF "wrong$((each + 1)).lua:" wrong.err >wrong.said || true
    says "$level: ${names[each]}" wrong.said "${sentences[each]}"
  done
done

# A base of many: how calls of a function come is found out when it is first called, not when the rule is loaded.
python3 - >many.swift <<'PY'
print("class Base {\n  var total = 0\n  @inline(never) func open(_ name: String, _ number: Int) { total &+= number &+ name.utf8.count }\n}")
for i in range(60):
    print(f"final class Heir{i}: Base {{\n  override func open(_ name: String, _ number: Int) {{ super.open(name, number &+ {i}) }}\n}}")
print("@inline(never) func make(_ i: Int) -> Base {\n  switch i {")
for i in range(60): print(f"  case {i}: Heir{i}()")
print("  default: Base()\n  }\n}")
print("for i in CommandLine.arguments.dropFirst().compactMap({ Int($0) }) { let it = make(i); it.open(\"name \\(i)\", i); print(it.total) }")
PY
swiftc -O -module-name Many many.swift -o many 2>build.log || bad 'a program with many subclasses is built' "$(tail -n 3 build.log)"
for base in Base Heir7; do
  printf 'patch { id = "%s", api = 1 }\nscreen { base = "Many.%s", during = "open(_:_:)", name = "args.1", fields = { number = "args.2" } }\n' $base $base >$base.lua
  # The command becomes the program; the symbol is that of `HookedFamily.planAll`, and no other library's symbols are read.
  capture asked timeout 120 gdb -q -batch -nx -iex 'set debuginfod enabled off' -iex 'set auto-solib-add off' -ex 'set breakpoint pending on' -ex 'handle all nostop noprint pass' \
    -ex 'catch exec' -ex run -ex 'delete' -ex 'catch load ScriptHostBoot' -ex continue -ex 'delete' -ex 'sharedlibrary ScriptHostBoot' \
    -ex "break *(long)&'\$s11HookRuntime12HookedFamilyC7planAllyyF'" -ex 'ignore 3 100000' -ex continue -ex 'info breakpoints' --args "$scripthost" run --state many-$base --patches $base.lua -- ./many 7 59 7
  asked=$(sed -n 's/.*breakpoint already hit \([0-9]*\) time.*/\1/p' asked.out)
  says "$base: the place is found where it is asked" asked.out 'HookedFamilyC7planAllyyF'
  if [ $base = Base ]; then check 'of many, none is asked before its first call' [ -z "$asked" ]; else check 'of one, it is' [ "${asked:-0}" -gt 0 ]; fi
done
capture alone ./many 7 59 7
capture many "$scripthost" run --state many --events many.events --patches Base.lua -- ./many 7 59 7
unchanged 'a rule on a class with many subclasses leaves the program as it was' alone many
sed -n 's/.*"kind":"screen","name":"\([^"]*\)".*"phase":"appear","type":"\([^"]*\)".*"attributes":\(.*\)}}$/\1 \2 \3/p' many.events >many.said
for i in 7 59 7; do echo "name $i Many.Heir$i {\"number\":$i}"; done >many.expected
same 'each call is one screen, of the leaf' many.expected many.said

# The page has the screens.
capture screens "$scripthost" run --state reported --patches "$here/patches/screens.lua" -- ./app screens
"$scripthost" report --state reported -o report.html >report.log 2>&1 || true
says 'the report has the path' report.html '/Home/PlainController'
finish
