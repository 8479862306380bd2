#!/usr/bin/env bash
# Stalls of main thread, main queue, chosen queues and the pool: recorded once each, with the stack and the length, and nothing else is.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
cd "$work"
mkdir patches
cat >patches/stalls.lua <<'LUA'
patch { id = "stalls", version = "1.0.0", api = 1 }
stalls { main = "300ms", pool = "300ms", queues = { ["shop.db"] = "300ms" } }
LUA

# run NAME PLACE HOW OPTION…: NAME.stalls has one JSON object per record of a stall.
run() {
  local name=$1 place=$2 how=$3
  shift 3
  capture "$name" timeout 60 "$scripthost" run --state state --events "$name.events" "$@" -- ./stalling "$place" "$how"
  grep -a '"kind":"stall"' "$name.events" >"$name.stalls" || true
}
# longest NAME PLACE: the milliseconds of the longest stall there that is over.
longest() {
  python3 - "$1.stalls" "$2" <<'PY'
import json, sys
found = [json.loads(line) for line in open(sys.argv[1])]
print(max([e["fields"]["duration_ns"] // 1000000 for e in found if e["name"] == sys.argv[2] and e["fields"]["over"]] or [0]))
PY
}
# told_of NAME PLACE OVER: how many records there are of the planted one, that it lasts or that it is over.
told_of() { grep -a "\"name\":\"$2\"" "$1.stalls" | grep -a "\"over\":$3" | grep -ac 'stalling.stall(_:)' || true; }
# stalled NAME PLACE FUNCTION: one was found there, of the planted length or longer, in that function.
stalled() {
  local time
  time=$(longest "$1" "$2")
  check "$level $1: a stall of $2 is recorded with its length, ${time} ms" [ "$time" -ge 600 ]
  says "$level $1: its stack names the function" "$1.stalls" "$3"
  check "$level $1: its stack names who called it" grep -q 'stalling.stall(_:)' "$1.stalls"
  # Between the two nothing is shown that only was called before.
  check "$level $1: and nobody else" bash -c "! grep -F 'stalling.stall(_:)' '$1.stalls' | grep -vE '$(sed 's/[().]/\\&/g' <<<"$3") [+] [0-9]+\",\"stalling\.stall\('"
  # One that a busy machine makes has other stacks. Work of the pool comes in rounds, between which it may go on.
  local begun over
  begun=$(told_of "$1" "$2" false) over=$(told_of "$1" "$2" true)
  check "$level $1: told once when it lasted and once when it was over ($begun, $over)" [ "$begun" -eq "$over" -a "$begun" -ge 1 -a \( "$2" = pool -o "$begun" -eq 1 \) ]
  check "$level $1: none of our own frames are in it" bash -c "! grep -qE 'hkt_|ccrash_|ScriptHost' $1.stalls"
}

# With frame pointers, as the package manager has programs compiled.
build() { swiftc -swift-version 6 "$1" -Xcc -fno-omit-frame-pointer -module-name stalling "$here/stalling.swift" -o stalling 2>build.log || bad "$1: it builds" "$(tail -n 3 build.log)"; }
level=-Onone
build $level
run "loop$level" runloop busy --stalls 300ms
stalled "loop$level" main 'stalling.countReceipts(_:)'
cat >patches/loops.lua <<'LUA'
patch { id = "loops", version = "1.0.0", api = 1 }
stalls { loops = "300ms" }
LUA
run queues-Onone queue busy --patches patches/stalls.lua &
run main-queue-Onone mainqueue busy --patches patches/stalls.lua &
run loops-Onone loop busy --patches patches/loops.lua &
wait
run pool-Onone pool sleepy --stalls 300ms
stalled queues-Onone shop.db 'stalling.countReceipts(_:)'
stalled main-queue-Onone main 'stalling.countReceipts(_:)'
stalled pool-Onone pool 'stalling.waitForPrinter(_:)'
stalled loops-Onone stalling 'stalling.countReceipts(_:)'
level=-O
build $level
run loops-O loop sleepy --patches patches/loops.lua &
run preset-O runloop busy --preset stalls &
# They sleep most of the time.
run queues-O queue busy --patches patches/stalls.lua &
run main-queue-O mainqueue busy --patches patches/stalls.lua &
run first-work-O firstwork busy --patches patches/stalls.lua &
run none-O none busy --stalls 300ms &
wait
run pool-O pool sleepy --stalls 300ms &
for how in busy sleepy; do
  run "loop-$how-O" runloop $how --stalls 300ms
  ended "$level: the program goes on as it did" "loop-$how-O"
  stalled "loop-$how-O" main "$([ $how = busy ] && echo 'stalling.countReceipts(_:)' || echo 'stalling.waitForPrinter(_:)')"
done
wait
stalled queues-O shop.db 'stalling.countReceipts(_:)'
stalled main-queue-O main 'stalling.countReceipts(_:)'
stalled first-work-O main 'stalling.countReceipts(_:)'
stalled pool-O pool 'stalling.waitForPrinter(_:)'
stalled loops-O stalling 'stalling.waitForPrinter(_:)'
stalled preset-O main 'stalling.countReceipts(_:)'
check "$level: a main thread that never waits for events cannot stall" bash -c '! grep -q "\"name\":\"main\"" none-O.stalls'

# A thread that runs goes on while its stack is looked at: all of it is of one moment. Two thirds of these samples are in functions without
# frame pointers and those that they call.
swiftc -swift-version 6 -Onone -Xcc -fno-omit-frame-pointer -module-name stalling "$here/stalling.swift" -o busy 2>build.log || bad 'busy builds' "$(tail -n 3 build.log)"
capture sampled timeout 60 "$scripthost" run --state sampled --profile 997 -- ./busy none busy
"$scripthost" export --state sampled --folded - >folded 2>/dev/null
check 'a thread that runs is sampled in functions without frame pointers' grep -q '__tls_get_addr' folded
grep countReceipts folded | grep -v 'main;stalling.stall(_:);stalling.countReceipts(_:)[ ;]' >mixed || true
grep countReceipts folded | grep 'countReceipts.*countReceipts' >>mixed || true
grep 'countReceipts.*__tls_get_addr' folded | grep -v 'countReceipts(_:);swift_\(begin\|end\)Access;_ZN5swift7runtime15SwiftTLSContext3getEv;__tls_get_addr\( (stub)\)\? [0-9]*$' >>mixed || true
same 'and each of its stacks is of one moment' /dev/null mixed
# A thread of ours waits in poll, below a Swift function whose frame holds words of calls that are over. Our own frames are left out.
grep ';poll [0-9]' folded | grep -v ';start_thread;poll [0-9]' >stale || true
same 'words of calls that are over are no callers of a thread that waits' /dev/null stale

# Waits for locks: the thread that waits, and the one that has it.
cat >patches/locks.lua <<'LUA'
patch { id = "locks", version = "1.0.0", api = 1 }
stalls { locks = "200ms" }
LUA
cat >patches/slow.lua <<'LUA'
patch { id = "slow", version = "1.0.0", api = 1 }
slow { on = "locking.price(_:)", budget = "400ms", fields = { item = "args.1" } }
slow { on = "locking.deliver(_:)", budget = "20ms", where = "error ~= nil", fields = { error = "error" } }
slow { on = "C.usleep", budget = "25ms", fields = { asked = "args.1" }, rate = "2/min" }
LUA
cat >patches/late.lua <<'LUA'
patch { id = "late", version = "1.0.0", api = 1 }
slow { on = "locking.bake(_:)", budget = "400ms", fields = { item = "args.1", made = "result" } }
slow { on = "locking.roast(_:)", budget = "400ms", fields = { error = "error" } }
LUA
for level in -Onone -O; do
  swiftc -swift-version 5 "$level" -Xcc -fno-omit-frame-pointer -module-name locking "$here/locking.swift" -o locking 2>build.log || bad "$level: locking builds" "$(tail -n 3 build.log)"
  for kind in mutex Mutex; do
    capture alone ./locking $kind
    capture locks timeout 60 "$scripthost" run --state state --events "$kind$level.events" --patches patches/locks.lua -- ./locking $kind
    same_run "$level $kind: the program goes on as it did" alone locks
    grep -a '"kind":"stall"' "$kind$level.events" >"$kind$level.stalls" || true
    time=$(longest "$kind$level" 'lock, main')
    check "$level $kind: a long wait is recorded with its length, ${time} ms" [ "$time" -ge 350 -a "$time" -lt 5000 ]
    check "$level $kind: one wait, told when it lasted and when it was over" [ "$(grep -c '"name":"lock, main","' "$kind$level.stalls")" -eq 2 ]
    says "$level $kind: the stack of who waits" "$kind$level.stalls" "locking.$([ $kind = mutex ] && echo 'Plain.waitForTheTill()' || echo 'waitForTheBook()')"
    says "$level $kind: the stack of who has it" "$kind$level.stalls" 'locking.holdTheTill(_:)'
  done
  for kind in reader writer; do
    capture alone ./locking $kind
    capture locks timeout 60 "$scripthost" run --state state --events "$kind$level.events" --patches patches/locks.lua -- ./locking $kind
    same_run "$level $kind: the program goes on as it did" alone locks
    grep -a '"kind":"stall"' "$kind$level.events" >"$kind$level.stalls" || true
    time=$(longest "$kind$level" 'lock, main')
    check "$level $kind: a long wait is recorded with its length, ${time} ms" [ "$time" -ge 350 -a "$time" -lt 5000 ]
    check "$level $kind: one wait, told when it lasted and when it was over" [ "$(grep -c '"name":"lock, main","' "$kind$level.stalls")" -eq 2 ]
    says "$level $kind: the stack of who waits" "$kind$level.stalls" "locking.ReadWrite.waitTo$([ $kind = reader ] && echo Read || echo Write)()"
  done
  capture alone ./locking async
  capture late timeout 60 "$scripthost" run -v --state state --events "late$level.events" --patches patches/late.lua -- ./locking async
  unchanged "$level: budgets leave async calls as they were" alone late
  grep -a '"kind":"stall"' "late$level.events" >"late$level.stalls" || true
  check "$level: the async call over its budget is recorded, with the time that it was suspended" [ "$(grep -c '"name":"slow: locking.bake(_:)".*"item":3,"made":9' "late$level.stalls")" -eq 1 ]
  says "$level: and the one that failed, with its error" "late$level.stalls" '"error":"Burnt.black"'
  capture alone ./locking slow
  capture slow timeout 60 "$scripthost" run -v --state state --events "slow$level.events" --patches patches/slow.lua -- ./locking slow
  unchanged "$level: budgets leave the program as it was" alone slow
  grep -a '"kind":"stall"' "slow$level.events" >"slow$level.stalls" || true
  check "$level: the one call over its budget is recorded" [ "$(grep -c '"name":"slow: locking.price(_:)"' "slow$level.stalls")" -eq 1 ]
  says "$level: with what the rule reads of it" "slow$level.stalls" '"budget_ns":400000000,"item":7'
  check "$level: of those that fail, the one that failed" [ "$(grep -c '"name":"slow: locking.deliver(_:)"' "slow$level.stalls")" -eq 1 ]
  says "$level: with its error" "slow$level.stalls" '"error":"Trouble.late"'
  check "$level: calls of a C function, as many as the rate lets" [ "$(grep -c '"name":"slow: C.usleep' "slow$level.stalls")" -eq 2 ]
done
level=-O

# The report and the flame graph have them, and what the watch of stalls takes.
says 'what the watch takes is told' <("$scripthost" events --state state --kind metric --json | grep -a 'scripthost.hook.time') '"verb":"watch"'
check 'stalls are in the flame graph' bash -c "'$scripthost' export --state state --folded - 2>/dev/null | grep -q 'stall main;.*stalling.stall(_:)'"

cat >patches/end.lua <<'LUA'
patch { id = "end", version = "1.0.0", api = 1 }
stalls { main = "100ms", end_after = "300ms" }
LUA
capture end timeout 60 "$scripthost" run --state ended --patches patches/end.lua -- ./stalling runloop sleepy
ended 'the watchdog ends a process that asks for it' end 134
says 'and says why' end.err "the main thread has not gone on for"
capture end timeout 60 "$scripthost" run --state ended --patches patches/end.lua -- ./stalling mainqueue sleepy
ended 'the watchdog ends one whose main queue is served by dispatchMain, too' end 134
says 'dispatchMain: and says why' end.err "the main thread has not gone on for"
capture end timeout 60 "$scripthost" run --state ended-first --patches patches/end.lua -- ./stalling firstwork sleepy
ended 'dispatchMain: the very first work may be what hangs' end 134
says 'the very first work: and says why' end.err "the main thread has not gone on for"
capture end timeout 60 "$scripthost" run --state ended-signal --patches patches/end.lua -- ./stalling signal sleepy
ended 'a main thread that waits for signals is left alone' end 0

for refused in 'stalls { main = 5 }|a time of at least 10ms' 'stalls { mian = "1s" }|unknown field' 'stalls { stacks = true }|watches nothing' 'stalls { end_after = "1s", pool = "1s" }|goes with' 'slow { on = "stalling.stall(_:)" }|needs '\''budget'\''' 'slow { on = "stalling.stal(_:)", budget = "1ms" }|did you mean'; do
  printf 'patch { id = "w", version = "1", api = 1 }\n%s\n' "${refused%%|*}" >refused.lua
  capture refused timeout 20 "$scripthost" run --state refused --patches refused.lua -- ./stalling none sleepy
  says "'${refused%%|*}' is told" refused.err "${refused##*|}"
done
capture option "$scripthost" run --stalls 1ms -- ./stalling none sleepy
says 'a threshold below what a machine does by itself is refused' option.err 'at least 10ms'
finish
