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
check 'no start failed' [ "$(grep -cE 'last start failed|starts failed' mode.out)" = 0 ]
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
says 'the failed test, with its place' result.err "tested.lua: quarantined, its test failed in a child of the program: 'adds one': tested.lua:4: expected 9"
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

# MARK: Recorded calls

rm -rf state
# calls NAME OPTION…: the program makes the calls that are recorded.
calls() {
  local name=$1
  shift
  capture "$name" timeout 60 "$scripthost" run --state state "$@" -- ./shop "mains.$name" calls
}
only same <<'LUA'
patch { id = "same", canary = "replay" }
method "Shop.half(_:)":before(function() end)
LUA
calls unrecorded -v --patches patches
says 'replay: nothing was recorded: it goes live' unrecorded.err 'same.lua: loaded in a child of the program'
calls recording --record-calls 'Shop.*(*)' --record-calls 'Shop.Desk.*(*)' --record-calls 'static Shop.Desk.*(*)'
unchanged 'replay: the program is what it was while calls are recorded' unrecorded recording
check "replay: calls are kept ($(grep -c '"call"' state/calls/*.calls))" [ "$(grep -c '"call"' state/calls/*.calls)" = 7 ]
check 'replay: a call that is given an object is not' [ "$(grep -c 'pass(' state/calls/*.calls)" = 0 ]
check 'replay: nobody else can read them' [ "$(stat -c %a state/calls/*.calls)" = 600 ]
calls same -v --patches patches
says 'replay: a patch that changes no result goes live' same.err 'same.lua: passed in a child of the program'
check 'replay: main ran once' [ "$(mains same)" = 1 ]

# changes NAME PATCH-LINE REASON: a patch that is quarantined.
changes() {
  only "$1" <<LUA
patch { id = "$1", canary = "replay" }
$2
LUA
  calls "$1" --patches patches
  unchanged "replay: $1: the program runs without it" unrecorded "$1"
  says "replay: $1: the reason" "$1.err" "$3"
}
changes result 'method "Shop.half(_:)":after(function(call) call.result = call.result + 1 end)' \
  "result.lua: quarantined, a recorded call has another result: 'Shop.half(_:)' with [\"9\"] answers \"5\" with it, and answers \"4\" without"
changes object 'method "Shop.Desk.total(_:coupon:tax:)":around(function(call) return call:original() + 1 end)' \
  "object.lua: quarantined, a recorded call has another result: 'Shop.Desk.total(_:coupon:tax:)' with"
changes argument 'method "Shop.half(_:)":before(function(call) call.args[1] = -1 end)' "argument.lua: quarantined, a recorded call has another result: 'Shop.half(_:)' with [\"9\"] traps"
changes thrown 'method "static Shop.Desk.greet(_:)":around(function(call) return "hello" end)' "thrown.lua: quarantined, a recorded call has another result: 'static Shop.Desk.greet(_:)' with"
changes ends 'method "Shop.half(_:)":before(function() swift.call("Shop.giveUp()") end)' "ends.lua: quarantined, a child of the program was ended by SIGABRT in a recorded call of 'Shop.half(_:)'"
only loops <<'LUA'
patch { id = "loops", canary = "replay", canary_limit = 2 }
method "Shop.half(_:)":before(function() swift.call("Shop.sleepForEver()") end)
LUA
calls loops --patches patches
says 'replay: a hang' loops.err "loops.lua: quarantined, a child of the program did not end within 2 s in a recorded call of 'Shop.half(_:)'"
only meant <<'LUA'
patch { id = "meant", canary = "replay", canary_changes = true }
method "Shop.half(_:)":after(function(call) call.result = call.result + 1 end)
LUA
calls meant --patches patches
says 'replay: a header may say that results change' meant.out '5 3'
only counted <<'LUA'
patch { id = "counted", canary = "replay" }
method "Shop.Desk.ticket()":before(function() end)
LUA
calls counted --patches patches
check 'replay: what differs from call to call is not compared' [ ! -s counted.err ]
swiftc -O -module-name Shop -D other -g -o shop "$here/shop.swift" 2>swiftc || fail "shop.swift does not compile: $(head swiftc)"
sed -i 's/ticket/total/; s/total()/total(_:coupon:tax:)/' patches/counted.lua
calls rebuilt -v --patches patches
says 'replay: calls of another build are not made' rebuilt.err 'counted.lua: loaded in a child of the program'

# MARK: The self-test of the program

only checked <<'LUA'
patch { id = "checked", canary = "self-test", canary_arguments = { "log", "--check" } }
method "Shop.half(_:)":before(function() end)
LUA
start checked -v
says 'self-test: a patch with which it passes goes live' checked.err 'checked.lua: passed in a child of the program'
sed -i 's/before.*/after(function(call) call.result = 7 end)/' patches/checked.lua
start unchecked
says 'self-test: one with which it fails does not' unchecked.err "checked.lua: quarantined, the program's self-test, started with 'log' '--check', ended with status 3"
check 'self-test: the program itself ran once' [ "$(mains unchecked)" = 1 ]
only without <<'LUA'
patch { id = "without", canary = "self-test" }
LUA
start without
says 'self-test: its arguments are asked for' without.err "canary = \"self-test\" needs canary_arguments"

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
says 'patch list: quarantined' list.out 'new: quarantined: '
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

# MARK: Code that was not optimised

swiftc -Onone -module-name Shop -o shop "$here/shop.swift" 2>swiftc || fail "shop.swift does not compile: $(head swiftc)"
only plain-good <<'LUA'
patch { id = "plain-good", canary = "test" }
method "Shop.Till.price(_:)":after(function(call) call.result = call.result + 1 end)
test "adds one" (function(t) t.equal(t.call(swift.new("Shop.Till", "init()"), "price(_:)", 4), 9) end)
LUA
start plain-good
says '-Onone: a patch whose tests pass goes live' plain-good.out 'price 43'
only plain-crash <<'LUA'
patch { id = "plain-crash", canary = "boot" }
swift.call("Shop.giveUp()")
LUA
start plain-crash
says '-Onone: one that crashes does not' plain-crash.err 'plain-crash.lua: quarantined, a child of the program was ended by SIGABRT as it was loaded'
says '-Onone: and the program works' plain-crash.out 'price 42'

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
capture format-plain swift-format a.swift
# What makes it crash in its work is not seen before main, but by its self-test: the formatting of a file.
cat >patches/format.lua <<LUA
patch { id = "format", canary = "self-test", canary_arguments = { "format", "$work/a.swift" } }
method "SwiftFormat.PrettyPrinter.printToken(idx:)":before(function(call) call.args.idx = 1000000000 end)
LUA
capture format-bad "$scripthost" run --state state --patches patches -- swift-format a.swift
unchanged 'swift-format: a patch that crashes it: the program works as without it' format-plain format-bad
says 'swift-format: why it is out' format-bad.err "format.lua: quarantined, the program's self-test, started with 'format'"
capture crashes "$scripthost" crashes --state state
check 'swift-format: no start failed, and no crash is told' [ "$(grep -c swift-format crashes.out)" = 0 ]
# And one that crashes it as it is loaded.
cat >patches/format.lua <<'LUA'
patch { id = "format", canary = "boot" }
swift.new("Dispatch.DispatchGroup", "init()"):leave()
LUA
capture format-load "$scripthost" run --state state --patches patches -- swift-format a.swift
unchanged 'swift-format: a patch that crashes as it is loaded: the program works as without it' format-plain format-load
says 'swift-format: the reason' format-load.err 'format.lua: quarantined, a child of the program was ended by SIG'
finish
