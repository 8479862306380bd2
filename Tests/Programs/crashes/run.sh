#!/usr/bin/env bash
# Programs that crash in every way: the report, what is told of it, and the exit status they would have had.
. "$(dirname "$0")/../support/checks.sh"
ulimit -c 0
export SWIFT_BACKTRACE=enable=no
swiftc -O -module-name planted -o "$work/planted" "$here/planted.swift" || fail "planted.swift does not compile"
state=$work/state

# crash NAME SIGNAL-NAME STATUS ARGUMENTS…: runs it under the host and shows its report.
crash() {
  local name=$1 signal=$2 status=$3
  shift 3
  rm -rf "$state"
  capture "$work/plain" "$work/planted" "$@"
  capture "$work/$name" "$scripthost" run --state "$state" --patches "$here/patches" -- "$work/planted" "$@"
  same "$name: the exit status is the program's own" "$work/plain.status" "$work/$name.status"
  check "$name: it is $status" [ "$(cat "$work/$name.status")" = "$status" ]
  capture "$work/$name.list" "$scripthost" crashes --state "$state"
  says "$name: the list names the signal" "$work/$name.list.out" "$signal"
  capture "$work/$name.show" "$scripthost" crashes --state "$state" show
  says "$name: the crashed thread is told" "$work/$name.show.out" ', crashed:'
  says "$name: the hook on its stack, with file and line" "$work/$name.show.out" "'planted.Shop.end(_:)' of patch shop.watch, watch.lua:4"
  says "$name: breadcrumbs" "$work/$name.show.out" "before 'planted.Shop.work(_:)' (watch.lua:3)"
  says "$name: what was logged" "$work/$name.show.out" "ends: $1"
  check "$name: the report is complete" [ "$(grep -c 'not complete' "$work/$name.show.out")" = 0 ]
}

crash trap SIGILL 132 trap
says "trap: a demangled frame" "$work/trap.show.out" 'planted.Shop.end('
crash fatal SIGILL 132 fatal
says "fatal: the runtime's message" "$work/fatal.list.out" 'the till is empty'
crash null SIGSEGV 139 null
crash abort SIGABRT 134 abort
crash deep SIGSEGV 139 deep
crash trap-other SIGILL 132 trap other
says "other thread: the main thread's stack, too" "$work/trap-other.show.out" 'main'
crash deep-other SIGSEGV 139 deep other

rm -rf "$state"
capture "$work/error" "$scripthost" run --state "$state" --patches "$here/patches" -- "$work/planted" error
capture "$work/error.show" "$scripthost" crashes --state "$state" show
says "an uncaught error out of main is a crash with its message" "$work/error.show.out" 'closed'

rm -rf "$state"
capture "$work/good" "$scripthost" run --state "$state" --patches "$here/patches" -- "$work/planted" good
ended "a good end" "$work/good"
check "leaves no crash file" [ -z "$(ls "$state/crashes")" ]

rm -rf "$state"
"$scripthost" run --state "$state" --patches "$here/patches" -- "$work/planted" wait >"$work/wait.out" &
pid=$!
for _ in $(seq 400); do grep -q ready "$work/wait.out" && break; sleep 0.05; done
capture "$work/running" "$scripthost" crashes --state "$state"
check "a program that runs did not crash" [ ! -s "$work/running.out" ]
kill -9 $pid
wait $pid 2>/dev/null || true
capture "$work/killed" "$scripthost" crashes --state "$state"
says "kill -9: listed as killed" "$work/killed.out" 'killed without a report'
capture "$work/killed.show" "$scripthost" crashes --state "$state" show 1
says "kill -9: breadcrumbs survive" "$work/killed.show.out" 'ends: wait'
capture "$work/json" "$scripthost" crashes --state "$state" --json show 1
check "JSON is valid" python3 -c 'import json,sys; json.load(open(sys.argv[1]))["breadcrumbs"][0]' "$work/json.out"

# Swift's backtracer comes after us and prints as it does without us.
rm -rf "$state"
export SWIFT_BACKTRACE=enable=yes,color=no,output-to=stderr,interactive=no,timeout=0s
capture "$work/tracer" "$scripthost" run --state "$state" --patches "$here/patches" -- "$work/planted" fatal
says "Swift's backtracer still prints" "$work/tracer.err" 'Program crashed'
capture "$work/tracer.list" "$scripthost" crashes --state "$state"
says "and the report is there" "$work/tracer.list.out" 'the till is empty'
finish
