#!/usr/bin/env bash
# Starts that fail: swift-format with a patch that makes it crash, and what safe mode takes out.
. "$(dirname "$0")/../support/checks.sh"
ulimit -c 0
export SWIFT_BACKTRACE=enable=no
printf 'struct A{var x=1\nfunc f( a:Int,b : String )->String{ return "\\(a)"+b}}\n' >"$work/a.swift"
state=$work/state patches=$work/patches
mkdir "$patches" "$work/cache" "$work/cache/deep" "$work/kept"
: >"$work/cache/deep/file"
: >"$work/kept/file"
ln -s "$work/kept" "$work/cache/link"
capture "$work/alone" swift-format "$work/a.swift"

# The good one is the newer, and further out on the stack: only the report tells that another one is to blame. Of the two bad ones each
# suffices, and the handlers of both are over when the program crashes.
for id in bad bad-too; do
  cat >"$patches/$id.lua" <<LUA
patch { id = "$id" }
method "SwiftFormat.PrettyPrinter.printToken(idx:)":before(function(call) call.args.idx = 1000000000 end)
LUA
done
cat >"$patches/good.lua" <<LUA
patch { id = "good" }
boot.cache "$work/cache"
method "SwiftFormat.PrettyPrinter.prettyPrint()":before(function(call) log.info("prints") end)
boot.task { name = "last", run = function() log.info("task: last") end }
boot.task { name = "first", priority = 5, run = function() log.info("task: first") end }
boot.task { name = "repair", failures = 2, run = function() log.info("task: repair") end }
LUA
touch -d '2020-01-01' "$patches/bad.lua" "$patches/bad-too.lua"
format() { capture "$work/$1" "$scripthost" run --state "$state" --patches "$patches" -- swift-format "$work/a.swift"; }

format first
check "the first start crashes" [ "$(cat "$work/first.status")" -gt 128 ]
capture "$work/list" "$scripthost" crashes --state "$state"
says "and is attributed to a patch that changed something before it" "$work/list.out" 'in bad'
capture "$work/crumbs" "$scripthost" crashes --state "$state" show
says "the breadcrumb says so" "$work/crumbs.out" "printToken(idx:)' (bad.lua:2), changed something"
capture "$work/mode-1" "$scripthost" safe-mode --state "$state"
says "safe-mode knows of it before the next start" "$work/mode-1.out" 'swift-format: the last start failed'
capture "$work/plan-1" "$scripthost" safe-mode --state "$state" plan
says "plan: the next start leaves it out" "$work/plan-1.out" 'swift-format: the next start loads all patches but those named here'
says "plan: and why" "$work/plan-1.out" ".lua' is left out: it had changed something of the program before it crashed"
check "plan: one, and no more" [ "$(grep -c 'left out' "$work/plan-1.out")" = 1 ]
cp -r "$state" "$work/forgotten"
capture "$work/forget" "$scripthost" safe-mode --state "$work/forgotten" reset
capture "$work/forgot" "$scripthost" safe-mode --state "$work/forgotten"
says "reset forgets the crash that no start has looked at yet, too" "$work/forgot.out" 'no start failed: nothing is taken out'
capture "$work/off" "$scripthost" safe-mode --state "$state" off
capture "$work/plan-off" "$scripthost" safe-mode --state "$state" plan
says "plan, with safe mode off: all are loaded" "$work/plan-off.out" 'swift-format: the next start loads all patches, and clears nothing'
check "plan, with safe mode off: none is left out" [ "$(grep -c 'left out\|stays out' "$work/plan-off.out")" = 0 ]
capture "$work/on" "$scripthost" safe-mode --state "$state" on
format second
says "the second tells what is out, and why" "$work/second.err" "' is not loaded, it had changed something of the program before it crashed"
capture "$work/plan-2" "$scripthost" safe-mode --state "$state" plan
says "plan: what the third start does" "$work/plan-2.out" "the next start loads all patches but those named here, and clears: '$work/cache'"
check "the other bad one makes it crash" [ "$(cat "$work/second.status")" -gt 128 ]
check "nothing was cleared yet" [ -f "$work/cache/deep/file" ]
format third
unchanged "the third works as without patches" "$work/alone" "$work/third"
says "it tells what is out" "$work/third.err" "'bad-too.lua', 'bad.lua' is not loaded"
check "the registered cache was cleared" [ ! -e "$work/cache/deep" ]
check "but nothing behind a symbolic link" [ -f "$work/kept/file" ]
capture "$work/logs" "$scripthost" logs --state "$state"
says "the good patch is loaded" "$work/logs.out" 'prints'
check "tasks of the start by priority, and after two failed starts a repair" \
  [ "$(grep -o 'task: [a-z]*' "$work/logs.out" | tail -n 3 | tr '\n' ' ')" = "task: first task: last task: repair " ]
check "which ran once" [ "$(grep -c 'task: repair' "$work/logs.out")" = 1 ]
# Crash files of programs that are gone.
now=$(date +%s)
for i in $(seq 80); do : >"$state/crashes/4190000-$((now - i))000000000.crash"; done
: >"$state/crashes/4190001-1000000000.crash"
format fourth
check "crash files are pruned" [ "$(ls "$state/crashes" | wc -l)" -le 65 ]
check "the oldest first" [ ! -e "$state/crashes/4190001-1000000000.crash" ]
unchanged "the fourth works, too" "$work/alone" "$work/fourth"
says "the bad patches stay out" "$work/fourth.err" "'bad-too.lua', 'bad.lua' is not loaded"
capture "$work/status" "$scripthost" safe-mode --state "$state"
says "safe-mode says why" "$work/status.out" 'it had changed something of the program before it crashed'
capture "$work/plan" "$scripthost" safe-mode --state "$state" plan
says "safe-mode plan tells the next start" "$work/plan.out" "bad.lua' stays out"

for id in bad bad-too; do printf 'patch { id = "%s" }\n' $id >"$patches/$id.lua"; done
format changed
check "a changed patch is loaded again" [ ! -s "$work/changed.err" ]

# A value that goes wrong in a handler, and a crash that comes when no hooked call is on the stack: one start tells whose it was.
rm -rf "$state"
mkdir "$work/late"
cat >"$work/late.swift" <<'SWIFT'
@inline(never) public func price(_ base: Int) -> Int { base &* 2 }
@inline(never) public func seen(_ base: Int) { print(base) }
let found = price(CommandLine.arguments.count)
seen(found)
print([1, 2, 3][found - 1 - CommandLine.arguments.count])
SWIFT
swiftc -O -module-name late "$work/late.swift" -o "$work/late-program" || fail 'late.swift does not compile'
printf 'patch { id = "corrupts" }\nmethod "late.price(_:)":after(function(call) call.result = 1000 end)\n' >"$work/late/corrupts.lua"
printf 'patch { id = "watches" }\nmethod "late.seen(_:)":before(function(call, base) log.info("seen") end)\nmethod "late.price(_:)":around(function(call) return call:original() end)\n' >"$work/late/watches.lua"
touch -d '2020-01-01' "$work/late/corrupts.lua"
capture "$work/late-alone" "$work/late-program"
late() { capture "$work/$1" "$scripthost" run --state "$state" --patches "$work/late" -- "$work/late-program"; }
late late-1
check "a wrong value ends the program later" [ "$(cat "$work/late-1.status")" -gt 128 ]
capture "$work/late-list" "$scripthost" crashes --state "$state"
says "who changed it is the suspect, not who ran last" "$work/late-list.out" 'in corrupts (corrupts.lua:2)'
late late-2
unchanged "the second start works as without patches" "$work/late-alone" "$work/late-2"
says "it tells what is out, and why" "$work/late-2.err" "'corrupts.lua' is not loaded, it had changed something of the program before it crashed"
capture "$work/late-logs" "$scripthost" logs --state "$state"
check "the other one was loaded both times" [ "$(grep -c 'seen' "$work/late-logs.out")" = 2 ]
# A file whose name is as long as names may be is found by it.
long=$(printf 'long%.0s' $(seq 62)).lua
mkdir "$work/late-long" && cp "$work/late/corrupts.lua" "$work/late-long/$long"
for start in 1 2; do capture "$work/late-long-$start" "$scripthost" run --state "$work/state-long" --patches "$work/late-long" -- "$work/late-program"; done
unchanged "a patch with a long name: the second start works as without patches" "$work/late-alone" "$work/late-long-2"
says "a patch with a long name: it tells what is out" "$work/late-long-2.err" "'$long' is not loaded"

# A patch that crashes the program while it is loaded: its first start tells whose it was, and the second does without it.
rm -rf "$state"
mkdir "$work/two"
cp "$patches/good.lua" "$work/two"
printf 'patch { id = "worse" }\n-- The library ends a program that leaves a group it never entered.\nswift.new("Dispatch.DispatchGroup", "init()"):leave()\n' >"$work/two/worse.lua"
format_two() { capture "$work/$1" "$scripthost" run --state "$state" --patches "$work/two" -- swift-format "$work/a.swift"; }
format_two load
check "a patch that crashes while it is loaded ends the program" [ "$(cat "$work/load.status")" -gt 128 ]
capture "$work/list" "$scripthost" crashes --state "$state"
says "and is attributed" "$work/list.out" 'in worse (worse.lua)'
capture "$work/plan-load" "$scripthost" safe-mode --state "$state" plan
says "plan: then not all patches are loaded" "$work/plan-load.out" 'the next start loads all patches but those named here'
says "plan: a patch that crashed in its own text is out at once" "$work/plan-load.out" "'worse.lua' is left out: it was at work in a crash"
format_two load-again
unchanged "the second start works as without patches" "$work/alone" "$work/load-again"
says "it tells what is out, and why" "$work/load-again.err" "'worse.lua' is not loaded, it was at work in a crash"
capture "$work/logs" "$scripthost" logs --state "$state"
says "the other one is loaded" "$work/logs.out" 'prints'
capture "$work/status" "$scripthost" safe-mode --state "$state"
says "safe-mode says what happened" "$work/status.out" "worse.lua' is not loaded: it was at work in a crash"

# A handler that crashes: the same, and of two patches the other one stays.
rm -rf "$state"
rm "$work/two/worse.lua"
printf 'patch { id = "handler" }\nmethod "SwiftFormat.PrettyPrinter.prettyPrint()":before(function() swift.new("Dispatch.DispatchGroup", "init()"):leave() end)\n' >"$work/two/handler.lua"
touch -d '2020-01-01' "$work/two/handler.lua"
format_two handler
check "a handler that crashes ends the program" [ "$(cat "$work/handler.status")" -gt 128 ]
capture "$work/plan-handler" "$scripthost" safe-mode --state "$state" plan
says "plan: it is out at once" "$work/plan-handler.out" "'handler.lua' is left out: it was at work in a crash"
capture "$work/gone-first" "$scripthost" status --state "$state"
says "status of a program that is gone, before the next start: what that leaves out" "$work/gone-first.out" "safe mode: 'handler.lua' is left out: it was at work in a crash"
format_two handler-again
unchanged "a handler that crashes: the second start works as without patches" "$work/alone" "$work/handler-again"
says "a handler that crashes: it tells what is out, and why" "$work/handler-again.err" "'handler.lua' is not loaded, it was at work in a crash"
capture "$work/logs" "$scripthost" logs --state "$state"
says "a handler that crashes: the newer patch is loaded" "$work/logs.out" 'prints'

capture "$work/gone" "$scripthost" status --state "$state"
check "status of a program that is gone: nothing runs" [ "$(cat "$work/gone.status")" = 1 ]
says "status of a program that is gone: which" "$work/gone.out" 'swift-format does not run'
check "status of a program that is gone: how it ended" grep -q '^the last crash or kill: 20.*Z, process [0-9]*: SIG.*, in handler (handler.lua:2); scripthost crashes show 1 has more$' "$work/gone.out"
says "status of a program that is gone: what is out, and why" "$work/gone.out" "safe mode: '$work/two/handler.lua' is not loaded: it was at work in a crash"
check "status of a program that is gone: each patch is named once" [ "$(grep -c 'handler.lua. is' "$work/gone.out")" = 1 ]
says "status of a program that is gone: what comes next" "$work/gone.out" 'safe mode: the next start loads all patches but those named here'
process=$(sed -n 's/.*, process \([0-9]*\):.*/\1/p' "$work/gone.out")
capture "$work/gone-pid" "$scripthost" status --state "$state" "$process"
same "status of a program that is gone: by its number" "$work/gone.out" "$work/gone-pid.out"
capture "$work/gone-json" "$scripthost" status --json --state "$state"
check "status of a program that is gone: --json" python3 - "$work/gone-json.out" "$process" <<'PY'
import json, sys
told = json.load(open(sys.argv[1]))
assert (told["program"], told["running"], told["last_end"]["pid"]) == ("swift-format", False, int(sys.argv[2])), told
assert told["last_end"]["how"].startswith("SIG") and any("is not loaded" in line for line in told["safe_mode"]) and told["quarantined"] == [], told
PY
capture "$work/never" "$scripthost" status --state "$work/never-state"
check "status where nothing ever ran tells nothing" [ "$(cat "$work/never.status")$(wc -c <"$work/never.out")" = 10 ]

# A damaged state is one failed start: everything is loaded.
for file in "$state"/boot/*.boot; do printf 'safe-mode 1\nfailures 7\n' >"$file"; done
format damaged
unchanged "a damaged state takes nothing out" "$work/alone" "$work/damaged"
check "and nothing is said" [ ! -s "$work/damaged.err" ]
capture "$work/reset" "$scripthost" safe-mode --state "$state" reset
ended "reset" "$work/reset"
check "leaves no state" [ -z "$(ls "$state"/boot/*.boot 2>/dev/null)" ]

# MARK: The watchdog

mkdir "$work/watched"
printf 'patch { id = "watched" }\nstalls { main = "100ms", end_after = "300ms" }\n' >"$work/watched/watched.lua"
cat >"$work/hangs.swift" <<'SWIFT'
import Foundation
DispatchQueue.main.async { if CommandLine.arguments.count > 1 { sleep(60) } else { exit(0) } }
RunLoop.main.run()
SWIFT
swiftc -O "$work/hangs.swift" -o "$work/hangs" || fail 'hangs.swift does not compile'
hang() { capture "$work/$1" timeout 50 "$scripthost" run --state "$work/state-hangs" --patches "$work/watched" -- "$work/hangs" ${2:-}; }
hang hang-1 now
ended "a program that hangs is ended by the watchdog" "$work/hang-1" 134
capture "$work/hangs.list" "$scripthost" crashes --state "$work/state-hangs"
says "with a report" "$work/hangs.list.out" SIGABRT
hang hang-2 now
hang hang-3
ended "it starts again" "$work/hang-3"
says "an end by the watchdog is a failed start" "$work/hang-3.err" "'watched.lua' is not loaded, 2 starts failed one after another"

# MARK: Levels, one by one

swiftc -O -parse-as-library -module-name boots "$here/boots.swift" -o "$work/boots" || fail 'boots.swift does not compile'
cd "$work"
# boot NAME END STATE PATCHES: one start that ends so.
boot() { BOOT_END=$2 capture "$1" "$scripthost" run --no-control --state "$3" --patches "$4" -- ./boots; }
loads() { check "$1: loaded: ${3:-nothing}" [ "$(sed -n 's/^loaded //p' "$2.out" | tr '\n' ' ')" = "${3:+$3 }" ]; }
mode() { capture mode "$scripthost" safe-mode --state "$@"; }

# A start that lives, after one that failed, is good when the window has passed; it is looked at below.
mkdir lived && printf 'patch { id = "lived" }\nswift.call("boots.loaded(_:)", "lived")\n' >lived/lived.lua
boot lived-1 abort lived-state lived
mkfifo lived.in
BOOT_END=wait "$scripthost" run --no-control --state lived-state --patches lived -- ./boots <lived.in >lived.out 2>lived.err &
living=$!
exec 9>lived.in

# A repair that crashes itself: every level is reached, and the crashes end with it.
mkdir repair data && printf 'patch { id = "newest" }\nswift.call("boots.loaded(_:)", "newest")\n' >repair/newest.lua
cat >repair/repair.lua <<LUA
patch { id = "repair" }
boot.data "$work/data"
boot.task { name = "give up", failures = 2, run = function() swift.call("boots.atLoad()") end }
swift.call("boots.loaded(_:)", "repair")
LUA
touch -d '2020-01-01' repair/repair.lua
boot repair-0 abort repair-state repair
boot repair-1 abort repair-state repair
: >data/file
boot repair-2 abort-load repair-state repair
loads 'a repair that crashes, after 2 failed starts: the newest patch is out' repair-2 repair
ended 'the repair ends the start before main' repair-2 134
check 'which main was not part of' [ "$(grep -c '^main' repair-2.out)" = 0 ]
boot repair-3 abort repair-state repair
loads 'after 3' repair-3 ''
says 'after 3: both are out' repair-3.err "'newest.lua', 'repair.lua' is not loaded, 3 starts failed one after another"
mode repair-state
says 'after 3: the repair is the suspect' mode.out "repair.lua' is not loaded: it was at work in a crash"
boot repair-4 abort repair-state repair
loads 'after 4' repair-4 ''
check 'after 4: registered data is kept' [ -e data/file ]
boot repair-5 abort repair-state repair
loads 'after 5' repair-5 ''
check 'after 5: registered data is cleared' [ ! -e data/file ]
boot repair-6 good repair-state repair
loads 'after 6: what was not suspected comes back, the repair does not' repair-6 newest
ended 'after 6: and the program works' repair-6

# After two failed starts the newest patch of those that were live is out, as it was: not one that was refused, nor a text that nobody tried yet.
mkdir tried && printf 'patch { id = "old" }\nswift.call("boots.loaded(_:)", "old")\n' >tried/old.lua
printf 'patch { id = "live" }\nswift.call("boots.loaded(_:)", "live")\n' >tried/live.lua
printf 'patch { id = "refused" }\nerror "not today"\n' >tried/refused.lua
printf 'patch { id = "unread"\n' >tried/unread.lua
touch -d '2020-01-01' tried/old.lua
touch -d '2021-01-01' tried/live.lua
boot tried-0 abort tried-state tried
boot tried-1 abort tried-state tried
cp -r tried-state mended-state
mode tried-state plan
says 'plan: the newest of those that were live, by its name' mode.out "leaves out the newest patch '$work/tried/live.lua'"
boot tried-2 good tried-state tried
loads 'a refused patch is not the newest' tried-2 old
says 'a refused patch is not the newest: what is out' tried-2.err "'live.lua' is not loaded, 2 starts failed one after another"
printf 'patch { id = "live", canary = "boot" }\nswift.call("boots.loaded(_:)", "mended")\n' >tried/live.lua
mode mended-state plan
says 'plan: a changed patch is tried' mode.out 'the next start loads all patches, and clears'
BOOT_END=good capture mended-2 "$scripthost" run -v --no-control --state mended-state --patches tried -- ./boots
check 'a patch that was changed after two failed starts is tried: loaded: mended old' \
  [ "$(sed -n 's/^loaded //p' mended-2.out | sort | tr '\n' ' ')" = 'mended old ' ]
says 'a patch that was changed after two failed starts: in a child first, as its header says' mended-2.err 'live.lua: passed in a child of the program'
check 'a patch that was changed after two failed starts: nothing is out' [ "$(grep -c 'safe mode: .* is not loaded' mended-2.err)" = 0 ]
# Of a patch that is a directory its modules and settings count, too.
mkdir -p parts/unit && printf 'patch { id = "unit" }\nswift.call("boots.loaded(_:)", require("part").name)\n' >parts/unit/patch.lua
printf 'return { name = "first" }\n' >parts/unit/part.lua
touch -d '2020-01-01' parts/unit/patch.lua parts/unit/part.lua
boot parts-0 abort parts-state parts
loads 'a directory' parts-0 first
boot parts-1 abort parts-state parts
boot parts-2 good parts-state parts
loads 'a directory: after two failed starts it is out' parts-2 ''
printf 'return { name = "second" }\n' >parts/unit/part.lua
boot parts-3 good parts-state parts
loads 'a directory: it is loaded again when a module of it is changed' parts-3 second
# A file of long ago.
touch -d '1960-01-01' parts/unit/part.lua parts/unit/patch.lua
boot parts-4 good parts-state parts
loads 'a file of 1960' parts-4 second

# MARK: Steps of the start that patches ask for

# seen NAME: what the program and its patches said, in one line.
seen() { sed 's/^loaded //' "$1.out" | tr '\n' ' '; }
mkdir asked && cat >asked/asked.lua <<'LUA'
patch { id = "asked" }
local function step(name, phase, priority, run)
  return boot.task { name = name, phase = phase, priority = priority, run = run or function() swift.call("boots.loaded(_:)", name) end }
end
step("idle", "idle", 99)
step("launched-low", "launched", -5)
step("launched", "launched")
step("launched-high", "launched", 5)
step("boot-low", "boot", -5)
step("boot", nil)
step("boot-same", "boot", 0)
step("boot-bad", "boot", 1, function() error "not today" end)
step("boot-high", "boot", 5)
step("late", "launched", 4, function() swift.call("boots.loaded(_:)", "late " .. tostring(step("boot-late", "boot"))) end)
swift.call("boots.loaded(_:)", "text")
LUA
mkfifo asked.in
BOOT_END=wait "$scripthost" run --no-control --state asked-state --patches asked -- ./boots <asked.in >asked.out 2>asked.err &
pid=$!
exec 8>asked.in
for _ in $(seq 4000); do grep -q 'loaded idle' asked.out && break; sleep 0.05; done
exec 8>&-
check 'boot.task: the program ends as ever' wait "$pid"
check "boot.task: by phase and priority, before main and behind it ($(seen asked))" \
  [ "$(seen asked)" = 'text boot-high boot boot-same boot-low main launched-high late false launched launched-low idle ' ]
says 'boot.task: one that fails is told, and the others run' asked.err 'not today'
# One that crashes is a failed start, in each phase, and its patch is to blame.
for phase in boot launched idle; do
  mkdir asked-$phase && printf 'patch { id = "bad" }\nboot.task { name = "bad", phase = "%s", run = function() swift.call("boots.stop()") end }\n' $phase >asked-$phase/bad.lua
  mkfifo asked-$phase.in
  { BOOT_END=wait capture asked-$phase "$scripthost" run --no-control --state asked-$phase-state --patches asked-$phase -- ./boots <asked-$phase.in; } &
  pid=$!
  exec 8>asked-$phase.in
  wait "$pid"
  exec 8>&-
  ended "boot.task: one that crashes ($phase) ends the program" asked-$phase 134
  mode asked-$phase-state
  says "boot.task: one that crashes ($phase) is a failed start" mode.out 'boots: the last start failed'
  mode asked-$phase-state plan
  says "boot.task: one that crashes ($phase): its patch is out" mode.out "bad.lua' is left out: it was at work in a crash"
done
# Safe mode comes first of all: what the newest patch did is out, and the caches are cleared, before any text of a patch runs.
mkdir first first-cache && cat >first/old.lua <<LUA
patch { id = "old" }
boot.cache "$work/first-cache"
swift.call("boots.loaded(_:)", swift.call("boots.isThere(_:)", "$work/first-cache/file") and "kept" or "cleared")
boot.task { name = "check", priority = math.maxinteger, run = function()
  swift.call("boots.loaded(_:)", swift.call("boots.isThere(_:)", "$work/first-cache/file") and "kept" or "cleared")
end }
LUA
printf 'patch { id = "a-newest" }\nswift.call("boots.loaded(_:)", "newest")\n' >first/a-newest.lua
touch -d '2020-01-01' first/old.lua
for start in 0 1 2; do
  : >first-cache/file
  boot "first-$start" "$([ $start = 2 ] && echo good || echo abort)" first-state first
done
check "safe mode first: before ($(seen first-1))" [ "$(seen first-1)" = 'newest kept kept main ' ]
check "safe mode first: before any text and any task the newest is out, and the cache is cleared ($(seen first-2))" [ "$(seen first-2)" = 'cleared cleared main ' ]

# Switched off and on, and what a running program says of itself.
mkdir off && printf 'patch { id = "off" }\nswift.call("boots.loaded(_:)", "off")\n' >off/off.lua
for i in 0 1 2 3; do boot "off-$i" abort off-state off; done
loads 'three starts failed' off-3 ''
mode off-state off
says 'safe-mode off: in words' mode.out 'safe mode is off: patches are loaded however many starts fail'
boot off-4 good off-state off
loads 'off' off-4 off
check 'off: nothing is said' [ ! -s off-4.err ]
mode off-state
says 'safe-mode says that it is off' mode.out 'safe mode is off; scripthost safe-mode on ends that'
mode off-state on
says 'safe-mode on' mode.out 'safe mode is on'
mkfifo off.in
BOOT_END=wait "$scripthost" run --state off-state --patches off -- ./boots <off.in >off.out 2>off.err &
pid=$!
exec 8>off.in
for _ in $(seq 4000); do grep -q main off.out && break; sleep 0.05; done
says 'on: it is out again' off.err "'off.lua' is not loaded"
check 'on: and not loaded' [ "$(grep -c loaded off.out)" = 0 ]
capture status "$scripthost" status --state off-state "$pid"
says 'status: how many starts failed' status.out 'starts failed one after another'
says 'status: what is out, and why' status.out "off.lua' is not loaded: "
capture status "$scripthost" status --state off-state --json "$pid"
says 'status --json, too' status.out '"failed_starts":'
exec 8>&-
check 'status: the program goes on as ever' wait "$pid"
printf 'patch { id = "off" }\nswift.call("boots.loaded(_:)", "changed")\n' >off/off.lua
boot off-5 good off-state off
loads 'a good start brings a changed patch back' off-5 changed

# What is registered and must not be touched: a link, what lies behind one, a special file, what goes up, what is too near to the root.
mkdir -p "$work/careful" "$work/outside/deep" "$work/inside"
: >"$work/outside/file"
: >"$work/outside/deep/file"
: >"$work/inside/file"
ln -s "$work/outside" "$work/link"
mkfifo "$work/pipe"
printf 'patch { id = "careful" }\nfor _, path in ipairs { "%s", "%s", "%s", "%s", "/nowhere", "%s", "%s", "%s", "%s" } do\n  local done, why = pcall(boot.cache, path) if not done then log.warn(why) end\nend\n' \
  "$work/link" "$work/link/deep" "$work/pipe" "$work/inside/../outside" "$work" "$HOME" "$work/careful-state" "$work/inside" >"$work/careful/careful.lua"
boot "$work/careful-1" abort careful-state careful
# Without a home the program itself is what the directory holds.
(unset HOME; boot "$work/careful-2" abort careful-state careful)
boot "$work/careful-3" good careful-state careful
ended "paths that must not be cleared: the program runs" "$work/careful-3"
says "what may be cleared is" "$work/careful-3.err" "cleared '$work/inside'"
check "and is empty" [ -d "$work/inside" -a -z "$(ls "$work/inside")" ]
says "a link is not followed" "$work/careful-3.err" "'$work/link' was not cleared: a symbolic link or special file"
says "nor one on the way" "$work/careful-3.err" "'$work/link/deep' was not cleared: 'link' is no directory, or a symbolic link"
says "a special file stays" "$work/careful-3.err" "'$work/pipe' was not cleared: a symbolic link or special file"
capture careful-logs "$scripthost" logs --state careful-state
for refused in "$work/inside/../outside': expected an absolute path" "/nowhere': expected an absolute path" "$work': the program is in it" "$HOME': the home directory is in it" \
  "$work/careful-state': ScriptHost's own state is in it"; do
  says "refused when it is registered: '$refused" careful-logs.out "'boot.cache' cannot take '$refused"
done
check "all of it is there still" [ -L "$work/link" -a -p "$work/pipe" -a -f "$work/outside/file" -a -f "$work/outside/deep/file" ]

# A state directory that cannot be written: the program's output is what it was, and of safe mode one line is said.
mkdir room && printf 'patch { id = "room" }\nboot.cache "%s"\nswift.call("boots.loaded(_:)", "room")\n' "$work/room-cache" >room/room.lua
boot room-0 abort room-state room
cp -r room-state room-full && mkdir room-tmpfs early-readonly
boot room-plain good room-full room
mkdir early && printf 'patch { id = "early" }\nlocal noted = boot.data "%s"\nswift.call("boots.loaded(_:)", "noted " .. tostring(noted))\n' "$work/early-data" >early/early.lua
boot early-noted good early-state early
says 'a path that is noted' early-noted.out 'loaded noted true'
cat >locked.sh <<'END'
set -e
mount --bind room-state room-state && mount -o remount,bind,ro room-state
BOOT_END=good "$1" run --no-control --state room-state --patches room -- ./boots >readonly.out 2>readonly.err || echo "status $?" >>readonly.out
mount -t tmpfs -o size=16m none room-tmpfs && cp -r room-state/. room-tmpfs
# Larger pieces end before the last page is taken.
cat /dev/zero >room-tmpfs/fill 2>/dev/null || true
BOOT_END=good "$1" run --no-control --state room-tmpfs --patches room -- ./boots >nospace.out 2>nospace.err || echo "status $?" >>nospace.out
# A path that cannot be noted is no reason for a patch to fail.
mount --bind early-readonly early-readonly && mount -o remount,bind,ro early-readonly
BOOT_END=good "$1" run --no-control --state early-readonly --patches early -- ./boots >early-readonly.out 2>early-readonly.err || echo "status $?" >>early-readonly.out
# A start fails; the next one finds no room to note that, and is killed.
rm room-tmpfs/fill
BOOT_END=abort "$1" run --no-control --state room-tmpfs --patches room -- ./boots >/dev/null 2>&1 || true
cat /dev/zero >room-tmpfs/fill 2>/dev/null || true
BOOT_END=kill "$1" run --no-control --state room-tmpfs --patches room -- ./boots >/dev/null 2>&1 || true
rm room-tmpfs/fill
"$1" safe-mode --state room-tmpfs >lost.out 2>&1
END
isolation=()
unshare -m true 2>/dev/null && isolation=(unshare -m) || { unshare -rm true 2>/dev/null && isolation=(unshare -rm); }
if [ ${#isolation[@]} -gt 0 ]; then
  check 'file systems that cannot be written' "${isolation[@]}" bash locked.sh "$scripthost"
  for where in readonly/'read-only file system' nospace/'no space left on device'; do
    name=${where%/*}
    same "${where#*/}: the program's output is what it was" room-plain.out "$name.out"
    check "${where#*/}: of safe mode one line is said" [ "$(grep -c 'safe mode' "$name.err")" = 1 ]
    says "${where#*/}: which file, and why" "$name.err" "boot': ${where#*/}; what is taken out now may come back"
    check "${where#*/}: of the journal another, and no more" [ "$(grep -c . "$name.err")" = 2 ]
  done
  says 'boot.data without a state that can be written: the patch goes on, and knows' early-readonly.out 'loaded noted false'
  says 'boot.data: it is told' early-readonly.err "early.lua:2: '$work/early-data' was not registered: the state directory cannot be written; safe mode will not clear it"
  check 'a failed start that the next one has no room to note is not lost' grep -q 'failed' lost.out
else
  printf 'skipped: file systems that cannot be written: no mount namespace here\n'
fi

# MARK: Random sequences of starts

check "${BOOT_SEQUENCES:-12} random sequences of starts end as the model says" \
  python3 "$here/sequences.py" "$scripthost" "$work/boots" "$work/sequences" "${SCRIPTHOST_SEED:-$RANDOM}" "${BOOT_SEQUENCES:-12}"

# The start from above: it lives until the window has passed, and crashes then.
for _ in $(seq 4000); do
  mode lived-state
  grep -q 'the last start was good\|no start failed' mode.out && break
  sleep 0.05
done
check 'a start that lives for 10 seconds after a failed one is good' grep -q 'the last start was good\|no start failed' mode.out
check 'while it runs' kill -0 "$living"
echo abort >&9
exec 9>&-
wait "$living" && status=0 || status=$?
check 'it crashes then' [ "$status" = 134 ]
boot lived-3 good lived-state lived
loads 'a crash behind the window' lived-3 lived
check 'a crash behind the window: nothing is said' [ ! -s lived-3.err ]
mode lived-state
check 'a crash behind the window is no failed start' grep -q 'the last start was good\|no start failed' mode.out

# MARK: Steps of a program that imports ScriptHost

mkdir none steps && : >steps/file
start() { capture "$1" "$scripthost" run --state swift-state --patches none -- "$products/start-steps" "$work/steps" "${@:2}"; }
capture without "$products/start-steps" "$work/steps"
ended 'without the host' without
check 'nothing is done' [ "$(grep -c 'step' without.out)" = 0 ]
says 'and the program knows' without.out 'repair false'
mkfifo in
"$scripthost" run --state swift-state --patches none -- "$products/start-steps" "$work/steps" wait <in >steps.out 2>steps.err &
pid=$!
exec 8>in
for _ in $(seq 4000); do grep -q "step last" steps.out && break; sleep 0.05; done
exec 8>&-
check 'a program with steps ends well' wait "$pid"
check 'steps by phase and priority' [ "$(grep -o '^step .*' steps.out | tr '\n' ' ')" = 'step first step second step third step last ' ]
says 'repairs are for failed starts' steps.out 'repair false'
says 'as is what asks for more of them' steps.out 'never false'
says 'a phase that is over' steps.out 'late false'
says 'a cache is registered, by an absolute path' steps.out 'cache true false'
check 'nothing was cleared' [ -e steps/file ]
start crash-1 crash
start crash-2 crash
check 'two starts crash' [ "$(cat crash-1.status)$(cat crash-2.status)" = 134134 ]
says 'the second knows of the first' crash-2.out 'failed starts 1'
start repaired
ended 'the third' repaired
says 'is told' repaired.out 'failed starts 2'
says 'the repair is done, in the call' <(tr '\n' ' ' <repaired.out) 'step repair repair true'
check 'before the registered cache was cleared' [ ! -e steps/file ]
start worse-0 crash
start worse-1 crash
for failures in 2 3 4 5; do
  : >steps/file
  start "worse-$failures" worse
  ended "a repair that crashes, after $failures failed starts: ends the start" "worse-$failures" 134
  says "a repair that crashes: it is told of $failures" "worse-$failures.out" "failed starts $failures"
  says "a repair that crashes, after $failures failed starts: it was done" "worse-$failures.out" 'step repair'
done
start worse-6 worse
ended 'after 6 counting starts anew: without the repair the program works' worse-6
says 'and is told so' worse-6.out 'failed starts 0'
start calm
says 'a good start: no repair' calm.out 'failed starts 0'
finish
