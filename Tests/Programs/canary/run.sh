#!/usr/bin/env bash
# Patches are tried in a child of the program before they go live: what crashes, hangs or fails its test there is quarantined.
. "$(dirname "$0")/../support/checks.sh"
ulimit -c 0
export SWIFT_BACKTRACE=enable=no
unset XDG_RUNTIME_DIR SCRIPTHOST_CONTROL
cd "$work"
swiftc -O -module-name Shop -o shop "$here/shop.swift" 2>swiftc || fail "shop.swift does not compile: $(head swiftc)"

# start NAME [OPTION…]: the program with the patches of folder `patches`; mains.NAME counts how often its main ran.
start() {
  local name=$1
  shift
  capture "$name" "$scripthost" run --state state --patches patches "$@" -- ./shop "mains.$name"
}
mains() { wc -l <"mains.$1"; }
# told: what the state says of patches that were tried, oldest first.
told() { cat state/canary/*.canary 2>/dev/null; }
only() {
  rm -rf patches && mkdir patches && cat >"patches/$1.lua"
}

only good <<'LUA'
patch { id = "good", canary = "boot" }
method "Shop.Till.price(_:)":after(function(call) call.result = call.result + 1 end)
boot.cache "/nonexistent/cache"
boot.task { name = "note", run = function() print("task ran") end }
LUA
start first -v
ended 'a good patch' first
says 'goes live' first.out 'price 43'
check 'the program ran once: the child ends before main' [ "$(mains first)" = 1 ]
says 'it was tried' first.err 'good.lua: passed in a child of the program'
check 'tasks of the start run in the program alone' [ "$(grep -c 'task ran' first.err)" = 1 ]
start again -v
says 'the next start has it, too' again.out 'price 43'
check 'and does not try it again' [ "$(grep -c 'in a child' again.err)" = 0 ]

sed -i 's/+ 1/+ 2/' patches/good.lua
start changed -v
says 'a changed one goes live' changed.out 'price 44'
says 'after it was tried' changed.err 'good.lua: passed in a child of the program'
printf '' >state/canary/$(cd state/canary && ls)
start damaged -v
says 'a damaged record: it is tried again' damaged.err 'passed in a child'

only crash <<'LUA'
patch { id = "crash", canary = "boot" }
swift.call("Shop.giveUp()")
LUA
cat >patches/good.lua <<'LUA'
patch { id = "good" }
method "Shop.Till.price(_:)":after(function(call) call.result = call.result + 1 end)
LUA
start crash
ended 'a patch that crashes' crash
says 'does not go live, and others do' crash.out 'price 43'
says 'the reason' crash.err 'scripthost: crash.lua: quarantined, a child of the program was ended by SIGABRT as it was loaded'
start crash-again
says 'is told again' crash-again.err 'crash.lua: quarantined, a child of the program was ended by SIGABRT'
capture mode "$scripthost" safe-mode --state state
says 'and by safe-mode' mode.out "crash.lua' is quarantined: a child of the program was ended by SIGABRT"
check 'no start failed' [ "$(grep -c 'failed one after another' mode.out)" = 0 ]
capture crashes "$scripthost" crashes --state state
check 'no crash of the program is told' [ "$(grep -c shop crashes.out)" = 0 ]
printf 'patch { id = "crash", canary = "boot" }\n' >patches/crash.lua
start mended
check 'a changed text is tried anew and goes live' [ ! -s mended.err ]

only hang <<'LUA'
patch { id = "hang", canary = "boot", canary_limit = 1 }
swift.call("Shop.sleepForEver()")
LUA
start hang
ended 'a patch that hangs' hang
says 'does not hang the program' hang.out 'price 42'
says 'and is quarantined' hang.err 'hang.lua: quarantined, a child of the program did not end within 1 s as it was loaded'

only leaves <<'LUA'
patch { id = "leaves", canary = "boot" }
swift.call("Shop.leave()")
LUA
start leaves
says 'a patch that ends the program' leaves.err 'leaves.lua: quarantined, a child of the program ended with status 3 as it was loaded'
says 'does not end it' leaves.out 'price 42'

only wrong <<'LUA'
patch { id = "wrong", canary = "boot" }
method "Shop.Till.prise(_:)":before(function() end)
LUA
start wrong
says 'a patch that cannot be loaded is refused as without a canary' wrong.err "wrong.lua:2: "
check 'and not quarantined' [ "$(grep -c quarantined wrong.err)" = 0 ]

# MARK: Tests

only tested <<'LUA'
patch { id = "tested", canary = "test" }
method "Shop.Till.price(_:)":after(function(call) call.result = call.result + 1 end)
test "adds one" (function(t)
  t.equal(t.call(swift.new("Shop.Till", "init()"), "price(_:)", 4), 9)
end)
LUA
start tested
says 'a patch whose tests pass goes live' tested.out 'price 43'
check 'without a word' [ ! -s tested.err ]
sed -i 's/+ 1/+ 2/' patches/tested.lua
start result
says 'one whose result changed does not' result.out 'price 42'
says 'the failed test' result.err "tested.lua: quarantined, its test failed in a child of the program: 'adds one': "
says 'with what was found' result.err 'expected 9, found 10'

only crashing <<'LUA'
patch { id = "crashing", canary = "test" }
test "good" (function(t) end)
test "bad" (function(t) swift.call("Shop.giveUp()") end)
LUA
start crashing
says 'a crash in a test' crashing.err "quarantined, a child of the program was ended by SIGABRT in its test 'bad'"
says 'leaves the program alone' crashing.out 'price 42'
only untested <<'LUA'
patch { id = "untested", canary = "test" }
LUA
start untested
says 'a header that asks for tests and has none' untested.err 'its header says canary = "test", and it has no test'

# MARK: Settings

only plain <<'LUA'
patch { id = "plain" }
if jit == nil then swift.call("Shop.giveUp()") end
LUA
start asked --canary test
says '--canary: patches that say nothing' asked.err 'plain.lua: quarantined'
start off --canary off
check '--canary off: it goes live and ends the program' [ "$(cat off.status)" = 134 ]
sed -i '1s/.*/patch { id = "plain", canary = "boot" }/' patches/plain.lua
rm -rf state
start header-off --canary off
check '--canary off: whatever its header says' [ "$(cat header-off.status)" = 134 ]
capture misspelt "$scripthost" run --canary maybe -- ./shop x
ended '--canary takes three words' misspelt 2

# MARK: A running process

rm -rf state patches && mkdir patches
cat >patches/live.lua <<'LUA'
patch { id = "live", canary = "boot" }
method "Shop.Till.price(_:)":after(function(call) call.result = call.result + 1 end)
LUA
mkfifo in
"$scripthost" run --state state --patches patches -- ./shop mains.live stay <in >live.out 2>live.err &
pid=$!
exec 8>in
# price N EXPECTED: what the running program answers.
await() {
  local i
  for i in $(seq 400); do "$@" >/dev/null 2>&1 && return 0; sleep 0.05; done
  return 1
}
line() { [ "$(sed -n "$1p" live.out)" = "$2" ]; }
check 'a running program' await line 1 'price 43'
control() { "$scripthost" patch "$1" --state state "$pid" "${@:2}"; }
check 'listens' await control list
printf 'patch { id = "live", canary = "boot" }\nswift.call("Shop.giveUp()")\n' >patches/live.lua
capture reload control reload live
ended 'a reload that crashes in its child' reload 1
says 'is told' reload.err 'live.lua: quarantined, a child of the program was ended by SIGABRT as it was loaded'
echo 1 >&8
check 'the text before it stays' await line 2 'price 3'
sed -i 's/.*giveUp.*/method "Shop.Till.price(_:)":after(function(call) call.result = call.result + 5 end)/' patches/live.lua
capture reload control reload live
ended 'a good text' reload
echo 1 >&8
check 'takes its place' await line 3 'price 7'
printf 'patch { id = "new", canary = "boot" }\nswift.call("Shop.giveUp()")\n' >new.lua
capture load control load new.lua
ended 'a new patch that crashes in its child' load 1
capture list control list
says 'patch list: quarantined' list.out 'new.lua: quarantined: '
capture status "$scripthost" status --state state --json "$pid"
says 'status counts it' status.out '"quarantined":1'
says 'status has its state' status.out '"state":"quarantined"'
check 'main ran once' [ "$(mains live)" = 1 ]
exec 8>&-
wait "$pid"
check 'the program ends well' [ $? = 0 ]
check 'no child was left behind' [ -z "$(pgrep -f "^./shop mains.live" || true)" ]
capture reset "$scripthost" safe-mode --state state reset
check 'reset forgets what failed' [ -z "$(told)" ]

# MARK: A program nobody here wrote

rm -rf patches && mkdir patches
printf 'struct A{var x=1}\n' >a.swift
cat >patches/format.lua <<'LUA'
patch { id = "format", canary = "boot" }
method "SwiftFormat.PrettyPrinter.prettyPrint()":around(function(call) return "// tried\n" .. call:original() end)
LUA
capture format "$scripthost" run --state state --patches patches -- swift-format a.swift
ended 'swift-format' format
says 'with a patch that was tried in a child of it' format.out '// tried'
check 'without a word' [ ! -s format.err ]
says 'the record' <(told) passed
finish
