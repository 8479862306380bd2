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
crash fatal-other SIGILL 132 fatal other
check "other thread: how long it ran" grep -qE '^crashed .*, after [0-9]+\.[0-9]{3} s: SIGILL' "$work/fatal-other.show.out"
build=$(readelf -n "$work/planted" | sed -n 's/.*Build ID: //p')
says "images, with their build-ids" <(grep '^  0x' "$work/fatal-other.show.out") " $build $work/planted"
crash deep-other SIGSEGV 139 deep other
for thread in '' other task; do
  # shellcheck disable=SC2086
  crash "bus${thread:+-$thread}" SIGBUS 135 bus $thread
  # shellcheck disable=SC2086
  crash "divide${thread:+-$thread}" SIGFPE 136 divide $thread
  # shellcheck disable=SC2086
  crash "breakpoint${thread:+-$thread}" SIGTRAP 133 breakpoint $thread
done
crash trap-task SIGILL 132 trap task
crash deep-task SIGSEGV 139 deep task
says "deep task: the function that recurs" "$work/deep-task.show.out" 'planted.Shop.deep('

# MARK: Objects, and a program that is another build by now

rm -rf "$state"
mkdir "$work/moved" && cp "$work/planted" "$work/moved"
for i in 1 2 3; do capture "$work/third" "$scripthost" run --state "$state" --patches "$here/patches" -- "$work/moved/planted" fatal other; done
capture "$work/json-list" "$scripthost" crashes --state "$state" --json
capture "$work/json-show" "$scripthost" crashes --state "$state" --json show 1
check "--json: signal, message, suspects, boot level, threads and frames" python3 - "$work/json-list.out" "$work/json-show.out" "$work/moved/planted" "$build" <<'PY'
import json, sys
listed, shown = [json.loads(line) for line in open(sys.argv[1])], json.load(open(sys.argv[2]))
assert [each["number"] for each in listed] == [1, 2, 3], listed
# The third one began after two that failed.
assert [each["boot_level"] for each in listed] == [0, 0, 1], [each["boot_level"] for each in listed]
for each in listed + [shown]:
    assert (each["signal"], each["program"], each["build"], each["ending"]) == ("SIGILL", sys.argv[3], sys.argv[4], "crashed"), each
    assert "the till is empty" in each["message"] and each["complete"] and each["address"] and each["started"] < each["time"], each
suspect = {"patch": "shop.watch", "selector": "planted.Shop.end(_:)", "position": "around", "source": "watch.lua", "line": 4}
assert suspect in listed[0]["suspects"] and suspect in shown["suspects"], listed[0]
assert listed[2]["suspects"] == [], "the patch was out"
for each in listed + [shown]:
    names = [(one["selector"], one["position"]) for one in each["suspects"]]
    assert len(names) == len(set(names)), f"a suspect is listed twice: {names}"
crashed, main = shown["threads"][0], [each for each in shown["threads"] if each["thread"] == shown["pid"]][0]
assert crashed["crashed"] and not main["crashed"] and crashed["thread"] != main["thread"], shown["threads"]
assert crashed["calls"][0] == {**suspect, "in_handler": False}, crashed["calls"]
assert all(isinstance(thread["calls"], list) for thread in shown["threads"])
assert int(shown["registers"]["rip"], 16) == crashed["frames"][0]["address"] and "rsp" in shown["registers"], shown["registers"]
own = [image for image in shown["images"] if image["path"] == sys.argv[3]]
assert own and all(image["build"] == sys.argv[4] and image["from"] < image["to"] for image in own), shown["images"]
assert any("planted.Shop.end(Swift.String) throws -> Swift.Int" in frame["text"] for frame in crashed["frames"]), crashed["frames"]
assert all(frame["address"] and frame["how"] in "pusfa" for thread in shown["threads"] for frame in thread["frames"])
assert any("ends: fatal" in crumb["text"] and crumb["thread"] == crashed["thread"] and crumb["after_ns"] > 0 for crumb in shown["breadcrumbs"])
PY
capture "$work/level" "$scripthost" crashes --state "$state" show 3
says "the boot level of a start after two that failed" "$work/level.out" "build-id $build, boot level 1"
says "names, from the file with that build-id" "$work/level.out" 'planted.Shop.end('
cp "$(command -v swift-format)" "$work/moved/planted"
capture "$work/rebuilt" "$scripthost" crashes --state "$state" show 3
ended "of a file that is another build by now" "$work/rebuilt"
check "no names are told" [ "$(grep -c 'planted.Shop' "$work/rebuilt.out")" = 0 ]
says "but image and distance" "$work/rebuilt.out" '  1  planted + 0x'

# A thread on which no handler ever ran has a stack for signals, too.
rm -rf "$state"
capture "$work/plain" "$work/planted" foreign
capture "$work/foreign" "$scripthost" run --state "$state" --patches "$here/patches" -- "$work/planted" foreign
same "deep foreign: the exit status is the program's own" "$work/plain.status" "$work/foreign.status"
capture "$work/foreign.show" "$scripthost" crashes --state "$state" show
says "deep foreign: the report is there, with the function" <(grep -A 4 ', crashed:' "$work/foreign.show.out") 'planted.foreign('
check "deep foreign: it is complete" [ "$(grep -c 'not complete' "$work/foreign.show.out")" = 0 ]

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

# MARK: Others who care for signals

export SWIFT_BACKTRACE=enable=no
cd "$work"
swiftc -O -module-name beside -o beside "$here/beside.swift" || fail 'beside.swift does not compile'
clang -shared -fPIC -o before.so "$here/before.c" || fail 'before.c does not compile'
mkdir beside-patch
printf 'patch { id = "beside" }\nmethod "beside.work(_:)":before(function() end)\n' >beside-patch/beside.lua
# beside HOW [PRELOADED]: runs it alone and under the host; what the host's crash list says is in HOW.list.out.
beside() {
  rm -rf "$state"
  LD_PRELOAD=${2:-} capture "$1-alone" timeout 600 ./beside "$1"
  LD_PRELOAD=${2:-} capture "$1" timeout 600 "$scripthost" run --state "$state" --patches beside-patch -- ./beside "$1"
  unchanged "$1: output and end are what they are without the host" "$1-alone" "$1"
  capture "$1.list" "$scripthost" crashes --state "$state"
}
# reported HOW SIGNAL, unreported HOW: whether there is a report.
reported() { says "$1: and there is a report" "$1.list.out" "$2"; }
unreported() { check "$1: nobody says that it crashed" [ "$(grep -c 'SIG' "$1.list.out")" = 0 ]; }
beside plain
reported plain SIGSEGV
beside plain "$work/before.so"
says 'an owner before us: gets the signal' plain.out 'their handler'
reported plain SIGSEGV
beside after-chains
says 'an owner after us that goes on to us' after-chains.out 'own handler'
reported after-chains SIGSEGV
beside after-alone
says 'an owner after us that does not' after-alone.out 'own handler'
# A signal that is blocked, ignored or has its default action again: the kernel would end the program without asking anybody.
for how in blocked blocked-thread blocked-owner sent ignored default restored once in-handler; do
  beside $how
  reported $how SIGSEGV
  capture $how.mode "$scripthost" safe-mode --state "$state"
  says "$how: and the start counts as failed" $how.mode.out 'beside: the last start failed'
done
says 'blocked: the mask is the one the program has set' blocked-thread.out 'blocked true true true'
says 'sent: it waits until the program takes it' sent.out 'taken 11'
says 'default: the action is the one the program has set' default.out 'default true'
says 'once: its handler runs' once.out 'once 11, then default true'
beside sent-owner
says 'sent: it waits for the handler of the program, too' sent-owner.out 'waits'
unreported sent-owner
beside default-abort
reported default-abort SIGABRT
beside fork
says 'fork: the child crashes as it would' fork.out 'child ended by 11'
unreported fork
beside exec
says 'exec: another program' exec.out 'another program'
unreported exec
beside altstack
says 'a stack of its own stays' altstack.out 'own stack true'
reported altstack SIGSEGV
beside altstack-deep
reported altstack-deep SIGSEGV
printf 'extern "C" void boom() { throw 1; }\n' >boom.cpp
clang++ -shared -fPIC boom.cpp -o boom.so || fail 'boom.cpp does not compile'
beside terminate
reported terminate SIGABRT
beside raise
reported raise SIGSEGV
beside queued
reported queued SIGABRT
# whole HOW TEXT: the report is there to its end, and has the text.
whole() {
  capture "$1.show" "$scripthost" crashes --state "$state" show
  check "$1: the report is complete" [ "$(grep -c 'not complete' "$1.show.out")" = 0 ]
  says "$1: and tells $2" "$1.show.out" "$2"
}
beside many
reported many SIGSEGV
whole many ', crashed:'
check 'many: of one thread that it crashed' [ "$(grep -c ', crashed:' many.show.out)" = 1 ]
check "many: and the other threads are in it ($(grep -c '^thread' many.show.out))" [ "$(grep -c '^thread' many.show.out)" -ge 9 ]
beside loader
reported loader SIGSEGV
whole loader dl_iterate_phdr
beside heap
reported heap SIGABRT
whole heap malloc
# Two handlers in turn: each call is a breadcrumb of its own, and none is the one before it again.
# The one call that each of them makes itself is not looked at.
trace=(strace -f -qq --seccomp-bpf -e 'trace=!getppid')
if command -v strace >/dev/null && "${trace[@]}" -o traced true 2>/dev/null; then
  printf 'patch { id = "crumbs" }\nmethod "beside.work(_:)":before(function() end)\nmethod "beside.work(_:)":after(function() end)\n' >crumbs.lua
  # asked COUNT: how often the main thread asked the system for something else while it made so many calls.
  asked() {
    rm -rf "$state"
    capture "calls-$1" "${trace[@]}" -o "traced-$1" "$scripthost" run --state "$state" --patches crumbs.lua -- ./beside calls "$1"
    local main
    read -r main _ <"traced-$1"
    grep -c "^$main " "traced-$1" || true
  }
  few=$(asked 1000) many=$(asked 50000)
  says 'breadcrumbs: the calls were made' calls-50000.out 'sum 3749925000'
  check "breadcrumbs: 49,000 calls more ask the system for nothing more ($few, $many)" [ "$few" -gt 0 -a $((many - few)) -lt 1000 ]
fi
swiftc -Onone -sanitize=address -module-name beside -o beside "$here/beside.swift" || fail 'beside.swift does not compile with the address sanitizer'
rm -rf "$state"
capture asan-alone env "${asan[@]}" ./beside overflow
capture asan env "${asan[@]}" "$scripthost" run --state "$state" --patches beside-patch -- ./beside overflow
same 'the address sanitizer: the exit status is what it was' asan-alone.status asan.status
says 'the address sanitizer: its report is there' asan.err 'heap-buffer-overflow'
capture asan-null env "${asan[@]}" "$scripthost" run --state "$state" --patches beside-patch -- ./beside plain
says 'the address sanitizer: of a wild pointer, too' asan-null.err 'ERROR: AddressSanitizer'

# MARK: The way to a crash

mkdir way
printf 'patch { id = "way" }\ntrack "worked" { on = "planted.Shop.work(_:)", fields = { n = "args.1" } }\nscreen { base = "planted.Shop", during = "end(_:)" }\nspan { on = "planted.Shop.deep(_:)" }\n' >way/way.lua
rm -rf "$state"
capture way "$scripthost" run --state "$state" --patches way -- ./planted trap
capture way.show "$scripthost" crashes --state "$state" show
says 'the way: what rules recorded, repeated calls counted' way.show.out "track 'planted.Shop.work(_:)' (way.lua) (3 times)"
says 'the way: screens' way.show.out 'event screen Shop appears'
says 'the way: in their order' <(sed -n 's/.*\] *//p' way.show.out | grep -A 1 'event screen' | tr '\n' ' ') "appears track 'planted.Shop.work(_:)'"
cat >request.swift <<'SWIFT'
import Foundation
import FoundationNetworking
let done = DispatchSemaphore(value: 0)
URLSession.shared.dataTask(with: URL(string: "http://127.0.0.1:9/nobody")!) { _, _, _ in done.signal() }.resume()
done.wait()
fatalError("nobody answers")
SWIFT
swiftc -O -module-name request request.swift -o request || fail 'request.swift does not compile'
printf 'patch { id = "request" }\nnetwork {}\n' >request.lua
rm -rf "$state"
capture request "$scripthost" run --state "$state" --patches request.lua -- ./request
capture request.show "$scripthost" crashes --state "$state" show
says 'the way: requests' request.show.out 'event request GET 127.0.0.1: '

# MARK: Async functions

mkdir awaiting-patch
printf 'patch { id = "awaiting" }\nmethod "awaiting.work(_:)":before(function(call, n) log.info("work " .. n) end)\n' >awaiting-patch/awaiting.lua
for way in O Onone; do
  swiftc "-$way" -parse-as-library -module-name awaiting -o awaiting-$way "$here/awaiting.swift" || fail 'awaiting.swift does not compile'
  rm -rf "$state"
  capture awaiting-$way "$scripthost" run --state "$state" --patches awaiting-patch -- ./awaiting-$way
  ended "awaiting ($way): a trap in a task ends the program as it would" awaiting-$way 132
  capture awaiting-$way.show "$scripthost" crashes --state "$state" show
  capture awaiting-$way.list "$scripthost" crashes --state "$state"
  for function in middle outermost; do says "awaiting ($way): the report has who waits: $function" <(grep 'waits: ' awaiting-$way.show.out) "awaiting.$function("; done
done

for name in trap fatal-other awaiting-O; do cat $name.list.out $name.show.out >$name.report; done
check 'the reports in docs/crashes.md have the headings and kinds of lines of these' \
  python3 "$here/shapes.py" "$root/docs/crashes.md" trap.report fatal-other.report awaiting-O.report

# MARK: A crash while the report is written

clang -O1 -pthread -I "$root/Sources/CCrash/include" -o handler "$here/handler.c" "$root"/Sources/CCrash/*.c -ldl || fail 'handler.c does not compile'
for how in once twice; do
  rm -rf "$state" && mkdir -p "$state/crashes"
  capture handler-$how timeout 600 ./handler "$state/crashes/$$-1000000000.crash" $how
  ended "a crash in the handler ($how): the process ends by the first signal" handler-$how 132
  capture handler-$how.show "$scripthost" crashes --state "$state" show
  says "a crash in the handler ($how): the report names the first signal" handler-$how.show.out ': SIGILL'
  says "a crash in the handler ($how): and the second" handler-$how.show.out 'a second crash (SIGSEGV) came while the report was written'
  says "a crash in the handler ($how): the rest of the report is there" handler-$how.show.out 'rip=0x'
  check "a crash in the handler ($how): to its end" [ "$(grep -c 'not complete' handler-$how.show.out)" = 0 ]
done

# MARK: Out of memory

swiftc -O -module-name memory -o memory "$here/memory.swift" || fail 'memory.swift does not compile'
mkdir memory-patch
printf 'patch { id = "memory" }\nmethod "memory.take(_:)":before(function() end)\n' >memory-patch/memory.lua
for how in array object class; do
  rm -rf "$state"
  # The limit is set by the program: what comes before it is not what this is about.
  capture memory-$how-alone timeout 600 ./memory $how
  capture memory-$how timeout 600 "$scripthost" run --state "$state" --patches memory-patch -- ./memory $how
  # Where even small pieces are refused, the runtime fails on its way to its own message, and how is a matter of chance.
  if [ $how = array ]; then same "out of memory: the exit status is the program's own" memory-$how-alone.status memory-$how.status; fi
  check "out of memory ($how): it ends by a signal" [ "$(cat memory-$how.status)" -gt 128 ]
  capture memory-$how.list "$scripthost" crashes --state "$state"
  says "out of memory ($how): there is a report" memory-$how.list.out SIG
  capture memory-$how.show "$scripthost" crashes --state "$state" show
  says "out of memory ($how): with the place" memory-$how.show.out 'memory.take('
  says "out of memory ($how): and breadcrumbs" memory-$how.show.out "before 'memory.take(_:)' (memory.lua:2) (4 times)"
  check "out of memory ($how): it is complete" [ "$(grep -c 'not complete' memory-$how.show.out)" = 0 ]
done

# MARK: A debugger

if command -v gdb >/dev/null; then
  swiftc -Onone -g -module-name debugged -o debugged "$here/debugged.swift" || fail 'debugged.swift does not compile'
  mkdir debugged-patch
  printf 'patch { id = "debugged" }\nmethod "debugged.work(_:)":before(function(call, n) call.args[1] = n + 100 end)\n' >debugged-patch/debugged.lua
  rm -rf "$state"
  mkfifo debugged.in
  "$scripthost" run --state "$state" --patches debugged-patch -- ./debugged <debugged.in >debugged.out 2>debugged.err &
  pid=$!
  exec 7>debugged.in
  for _ in $(seq 400); do grep -q ready debugged.out && break; sleep 0.05; done
  # A breakpoint behind the jump to the hook; then the crash, which the debugger sees first.
  printf '%s\n' 'set pagination off' 'set confirm off' 'set breakpoint pending on' 'handle SIG32 SIG33 SIG34 SIGSYS nostop noprint pass' "attach $pid" \
    'break debugged.swift:7' 'shell echo go >&7' 'continue' 'echo stopped-inside\n' 'backtrace 12' 'delete' 'continue' 'echo crash-seen\n' 'backtrace 3' 'detach' 'quit' >gdb.script
  capture gdb timeout 600 gdb -nx -batch -x gdb.script
  wait $pid && status=0 || status=$?
  says 'gdb: a breakpoint in a hooked function is hit' gdb.out 'hit Breakpoint 1'
  says 'gdb: in its place' gdb.out 'debugged.swift:7'
  says 'gdb: the crash goes to the debugger first' gdb.out 'received signal SIGILL'
  says 'gdb: the hook ran under it' debugged.out 'inner 321'
  check 'gdb: when it is gone the program ends as it would' [ "$status" = 132 ]
  capture debugged.list "$scripthost" crashes --state "$state"
  says 'gdb: and the report is there' debugged.list.out 'SIGILL'
  exec 7>&-
fi

# MARK: kill -9 while threads record

swiftc -O -module-name recording -o recording "$here/recording.swift" || fail 'recording.swift does not compile'
check "kill -9 at ${KILLS:-12} random moments: what was told is there, whole and in order" \
  python3 "$here/killed.py" "$scripthost" "$work/recording" "$work/killed" "${SCRIPTHOST_SEED:-$RANDOM}" "${KILLS:-12}"

# Swift's backtracer comes after us and prints as it does without us.
rm -rf "$state"
export SWIFT_BACKTRACE=enable=yes,color=no,output-to=stderr,interactive=no,timeout=0s
capture "$work/tracer" "$scripthost" run --state "$state" --patches "$here/patches" -- "$work/planted" fatal
says "Swift's backtracer still prints" "$work/tracer.err" 'Program crashed'
capture "$work/tracer.list" "$scripthost" crashes --state "$state"
says "and the report is there" "$work/tracer.list.out" 'the till is empty'
# traced NAME SIGNAL STATUS PATCHES PROGRAM ARGUMENTS…: of other threads, tasks and overflows, too.
traced() {
  rm -rf "$state"
  capture tracer "$scripthost" run --state "$state" --patches "$4" -- "${@:5}"
  ended "Swift's backtracer, $1: the exit status" tracer "$3"
  says "Swift's backtracer, $1: it prints" tracer.err 'Program crashed'
  capture tracer.list "$scripthost" crashes --state "$state"
  says "Swift's backtracer, $1: and the report is there" tracer.list.out "$2"
}
traced 'another thread' SIGILL 132 "$here/patches" ./planted trap other
traced 'a null pointer' SIGSEGV 139 "$here/patches" ./planted null
traced 'a full stack' SIGSEGV 139 "$here/patches" ./planted deep
traced 'a task' SIGILL 132 awaiting-patch ./awaiting-O
finish
