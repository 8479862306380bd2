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

# The good one is the newer, and further out on the stack: only the report tells that the other one is to blame.
cat >"$patches/bad.lua" <<'LUA'
patch { id = "bad" }
method "SwiftFormat.PrettyPrinter.printToken(idx:)":before(function(call) call.args.idx = 1000000000 end)
LUA
cat >"$patches/good.lua" <<LUA
patch { id = "good" }
boot.cache "$work/cache"
method "SwiftFormat.PrettyPrinter.prettyPrint()":before(function(call) log.info("prints") end)
boot.task { name = "last", run = function() log.info("task: last") end }
boot.task { name = "first", priority = 5, run = function() log.info("task: first") end }
boot.task { name = "repair", failures = 2, run = function() log.info("task: repair") end }
LUA
touch -d '2020-01-01' "$patches/bad.lua"
format() { capture "$work/$1" "$scripthost" run --state "$state" --patches "$patches" -- swift-format "$work/a.swift"; }

format first
check "the first start crashes" [ "$(cat "$work/first.status")" -gt 128 ]
capture "$work/list" "$scripthost" crashes --state "$state"
says "and is attributed to the patch on the stack" "$work/list.out" 'in bad (bad.lua:2)'
format second
check "so does the second" [ "$(cat "$work/second.status")" -gt 128 ]
check "nothing was cleared yet" [ -f "$work/cache/deep/file" ]
format third
unchanged "the third works as without patches" "$work/alone" "$work/third"
says "it tells what is out" "$work/third.err" "'bad.lua' is not loaded"
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
says "the bad patch stays out" "$work/fourth.err" "'bad.lua' is not loaded"
capture "$work/status" "$scripthost" safe-mode --state "$state"
says "safe-mode says why" "$work/status.out" 'it was at work in a crash'
capture "$work/plan" "$scripthost" safe-mode --state "$state" plan
says "safe-mode plan tells the next start" "$work/plan.out" "bad.lua' stays out"

printf '%s\n' 'patch { id = "bad" }' >"$patches/bad.lua"
format changed
check "a changed patch is loaded again" [ ! -s "$work/changed.err" ]

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
format_two load-again
unchanged "the second start works as without patches" "$work/alone" "$work/load-again"
says "it tells what is out, and why" "$work/load-again.err" "'worse.lua' is not loaded, it was at work in a crash"
capture "$work/logs" "$scripthost" logs --state "$state"
says "the other one is loaded" "$work/logs.out" 'prints'
capture "$work/status" "$scripthost" safe-mode --state "$state"
says "safe-mode says what happened" "$work/status.out" "worse.lua' is not loaded: it was at work in a crash"

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

# MARK: Random sequences of starts

swiftc -O -parse-as-library -module-name boots "$here/boots.swift" -o "$work/boots" || fail 'boots.swift does not compile'
check "${BOOT_SEQUENCES:-12} random sequences of starts end as the model says" \
  python3 "$here/sequences.py" "$scripthost" "$work/boots" "$work/sequences" "${SCRIPTHOST_SEED:-$RANDOM}" "${BOOT_SEQUENCES:-12}"

# MARK: Steps of a program that imports ScriptHost

cd "$work"
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
start calm
says 'a good start: no repair' calm.out 'failed starts 0'
finish
