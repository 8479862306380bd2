#!/usr/bin/env bash
# Calls that come where there is little stack, or in a signal handler: threads with small stacks run handlers, a recursion goes as deep as without
# hooks, and in a signal handler what is not fit for one stands aside, and is counted.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
cd "$work"
"$(toolchain_bin)/clang" -O1 -Wall -Werror -c "$here/helper.c" -o helper.o
for level in -Onone -O; do
  swiftc -swift-version 5 $level "$here/main.swift" helper.o -I "$here" -module-name Stacks -o "stacks$level"
done
export SWIFT_BACKTRACE=enable=no
printf 'patch { id = "all" }\nlocal n = 0\nmethod "Stacks.tiny(_:)":before(function(call, x) n = n + 1 log.info("tiny " .. x) end)
method "Stacks.named(_:)":around(function(call, x) return call:original() .. "!" end)
method "Stacks.first*(_:)":before(function(call, x) n = n + 1 log.info(("x"):rep(x %% 100)) end)
method "Stacks.Ladder.after()":around(function(call) return call:original() + 1 end)\n' >all.lua
printf 'patch { id = "exit" }\ntrack "down" { on = "Stacks.Ladder.down(_:)", at = "exit", sample = 0.001, fields = { r = "result" } }\n' >exit.lua
printf 'patch { id = "after" }\nlocal n = 0\nmethod "Stacks.Ladder.down(_:)":after(function(call) n = n + 1 end)\n' >after.lua
printf 'patch { id = "rule" }\ntrack "tiny" { on = "Stacks.tiny(_:)", fields = { n = "args.1" } }\n' >rule.lua

# with PATCH PROGRAM ARGUMENTS…
with() { local patch=$1; shift; capture run timeout 60 "$scripthost" run -v --state state --patches "$patch.lua" -- "$@"; }
same_as_alone() {
  local name=$1 patch=$2
  shift 2
  "$@" >alone
  with "$patch" "$@"
  check "$name" cmp -s run.out alone
}

for level in -Onone -O; do
  for size in 16384 24576 65536 262144 1048576; do
    with all "./stacks$level" threads $size
    # Eight times the numbers 0 to 7, and ten bytes each.
    check "threads with $size bytes of stack run their handlers ($level)" [ "$(cat run.out)" = 108 ]
  done
  for size in 8192 16384 65536 0; do
    same_as_alone "in a signal handler, on a stack of $size bytes ($level)" all "./stacks$level" signal $size
    same_as_alone "and a rule ($level)" rule "./stacks$level" signal $size
  done
  with all "./stacks$level" signal 0
  says "it is told that they passed through ($level)" run.err 'came in signal handlers'
  same_as_alone "first calls in handlers of an alarm, which interrupt malloc ($level)" all "./stacks$level" alarm
  # What a cancelled thread leaves locked nobody lets go of.
  with all "./stacks$level" cancel
  check "a thread that was cancelled goes through its handlers to its next point of cancellation ($level)" [ "$(tr '\n' ' ' <run.out)" = '6 6 9 9 4 10 4 number 4! ' ]
  same_as_alone "and a rule's ($level)" rule "./stacks$level" cancel
  with all "./stacks$level" jump
  check "handlers left by a jump are over ($level)" [ "$(cat run.out)" = '6 2' ]
done

# The deepest recursion the program has room for by itself, to a thousand levels.
low=1000 high=2000000
while ((high - low > 1000)); do
  middle=$(((low + high) / 2))
  if ./stacks-O deep $middle >/dev/null 2>&1; then low=$middle; else high=$middle; fi
done 2>/dev/null
depth=$((low * 8 / 10))
for patch in exit after; do
  with $patch ./stacks-O deep $depth
  check "$patch: $depth levels of $low" [ "$(cat run.out)" = "$depth 5" ]
done
with exit ./stacks-O deep 100000000
check 'a recursion without an end ends the program as it would' [ "$(cat run.status)" -eq 139 ]
finish
