#!/usr/bin/env bash
# Traps that do not end the program: of what scripts call, on every kind of trap, thread and way of compiling.
. "$(dirname "$0")/../support/checks.sh"
ulimit -c 0
export SWIFT_BACKTRACE=enable=no
for way in O Onone; do
  swiftc "-$way" -module-name traps -o "$work/traps-$way" "$here/traps.swift" 2>"$work/swiftc" || fail "traps.swift does not compile: $(head "$work/swiftc")"
done

# run NAME PATCHES PROGRAM ARGUMENTS…: with the patches in that folder.
run() {
  local name=$1 patches=$2
  shift 2
  capture "$work/$name" "$scripthost" run -v --state "$work/state-$name" --patches "$here/$patches" -- "$@"
}

for way in O Onone; do
  for thread in main other; do
    name=calls-$way-$thread
    run "$name" calls "$work/traps-$way" script "$thread"
    for kind in range nil overflow cast fatal null inside divide; do
      says "$name: $kind becomes an error of Lua" "$work/$name.err" "calls.lua:7: $kind	false	calls.lua:6: 'traps.Till.trap(_:)', called with (Swift.String), trapped"
    done
    says "$name: calls that do not trap answer" "$work/$name.err" $'none\ttrue\t42'
    says "$name: the runtime's message" "$work/$name.err" 'traps.swift:30: Fatal error: the till is empty (SIGILL)'
    says "$name: a failed cast" "$work/$name.err" "(SIGABRT)"
    says "$name: what the calls did before stays done" "$work/$name.err" $'count\t9'
    says "$name: the patch is switched off" "$work/$name.err" "patch 'calls' is switched off"
    says "$name: the handler's call goes on" "$work/$name.out" '2'
    says "$name: the program's work is right" "$work/$name.out" 'done 500510 3'
    check "$name: it ends well" [ "$(cat "$work/$name.status")" = 0 ]
  done
done

# Swift's own handlers, which are behind ours, are not asked.
SWIFT_BACKTRACE=enable=yes,color=no,output-to=stderr,interactive=no,timeout=0s run tracer calls "$work/traps-O" script
says "with Swift's backtracer on: contained" "$work/tracer.out" 'done 500510 3'
check "with Swift's backtracer on: it does not print" [ "$(grep -c 'Program crashed' "$work/tracer.err")" = 0 ]

# refused NAME FUNCTION REASON: a call that must not be left ends the program, and the report says why.
refused() {
  mkdir -p "$work/$1-patches"
  printf 'local till = swift.new("traps.Till", "init()")\nmethod "static traps.Desk.tick(_:)":before(function() return till:%s end)\n' "$2" >"$work/$1-patches/refused.lua"
  capture "$work/$1" "$scripthost" run --state "$work/state-$1" --patches "$work/$1-patches" -- "$work/traps-O"
  check "$1: the program ends as it would" [ "$(cat "$work/$1.status")" = 132 ]
  capture "$work/$1.show" "$scripthost" crashes --state "$work/state-$1" show
  says "$1: the report says why" "$work/$1.show.out" "not contained: $3"
}
refused once 'once()' 'a global or static variable is being initialised'
refused sorted 'sorted()' 'the C library is in the middle of something'
finish
