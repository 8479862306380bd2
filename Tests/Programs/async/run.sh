#!/usr/bin/env bash
# Async functions of every kind, hooked in all positions: values, errors, cancellation, actors, thousands at a time.
# ASYNC_CROWD: how many tasks at once (10000).
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"

crowd=${ASYNC_CROWD:-10000}
cd "$work"

# tallied FILE NAME COUNTS…: the patch counted before, around, returned, threw, after.
tallied() {
  local file=$1 name=$2
  shift 2
  says "$level: $name was told of $1 times" "$file" ": $name $*"
}

for level in -Onone -O; do
  swiftc -swift-version 6 $level -parse-as-library -emit-module -emit-object -module-name Subject "$here/Subject.swift" -o Subject.o
  swiftc -swift-version 6 $level -module-name Caller "$here/main.swift" Subject.o -I. -o program
  capture alone ./program alone "$crowd"
  ended "$level: the program itself is right" alone
  check "$level: nothing is wrong" sh -c '! grep WRONG alone.out'
  for mode in watch args result instead twice failing await; do
    capture "$mode" timeout 120 "$scripthost" run -v --state state --patches "$here/patches/$mode" -- ./program "$mode" "$crowd"
    ended "$level $mode: exits as alone" "$mode"
    check "$level $mode: reaches the end" grep -q '^[0-9]* checks$' "$mode.out"
    check "$level $mode: nothing is wrong" sh -c "! grep -a WRONG $mode.out $mode.err"
    checks=$((checks + $(sed -n 's/^\([0-9]*\) checks$/\1/p' "$mode.out" | tail -n 1)))
  done
  # A handler takes the result of what it calls, whatever the function that it stands around is called for.
  printf '%s\n' 'patch { id = "within" }' 'method "Subject.quick(_:)":around(function(call) return call:original() + 1000 end)' \
    'method "Subject.nothing(_:)":around(function(call, n) print("within", swift.call("Subject.quick(_:)", 1)) return call:original() end)' >within.lua
  capture within timeout 120 "$scripthost" run -v --state state --patches within.lua -- ./program alone 10
  says "$level: a handler gets the result that another one gave" within.err $'within\t1002'
  check "$level watch: no complaints" sh -c '! grep -v "patch.lua: loaded\|it is not known which calls were inlined\|: [a-zA-Z. ]*(.*) [0-9 ]*$\|Shape.corners.get" watch.err'
  tallied watch.err 'ints(_:_:)' 4 4 4 0 4
  tallied watch.err 'fib(_:)' 177 177 177 0 177
  tallied watch.err 'text(_:times:)' 2 2 1 1 2
  tallied watch.err 'Countdown.next()' 4 4 4 0 4
  tallied watch.err 'Account.calm(_:)' $((crowd + 1)) $((crowd + 1)) $((crowd + 1)) 0 $((crowd + 1))
  tallied watch.err 'work(_:_:_:)' "$crowd" "$crowd" $((crowd * 9 / 10)) $((crowd / 10)) "$crowd"
  tallied watch.err 'sleep(_:)' "$crowd" "$crowd" "$crowd" 0 "$crowd"
  tallied watch.err 'waitForCancellation(_:)' "$crowd" "$crowd" 0 "$crowd" "$crowd"
done

# Tests of patches: an async function is called in a task of its own, and its handlers run.
cat >tests.lua <<'LUA'
patch { id = "tests" }
local seen = 0
method "Subject.quick(_:)":around(function(call, n)
  seen = seen + 1
  return coroutine.wrap(function() return call:original(n + 1) end)() + 100
end)
method "Subject.many(_:_:_:_:_:_:_:_:_:)":around(function(call, ...)
  return call:original(...) + swift.call("Subject.quick(_:)", 1)
end)
test "a scalar" (function(t) t.equal(t.call("Subject.quick(_:)", 1), 103) t.equal(seen, 1) end)
test "arguments on the stack" (function(t) t.equal(t.call("Subject.many(_:_:_:_:_:_:_:_:_:)", 1, 2, 3, 4, 5, 6, 7, 8, 9), 285 + 103) end)
test "a text" (function(t) t.equal(t.call("Subject.text(_:times:)", "ab", 20), ("ab"):rep(20)) end)
test "a value in memory" (function(t) t.equal(t.call("Subject.big(_:_:)", 4, "in memory").name, "in memory") end)
test "an error" (function(t)
  local problem = t.fails(function() t.call("Subject.text(_:times:)", "x", -4) end)
  local ok = swift.try("Subject.text(_:times:)", "x", -4)
  t.equal(ok, false)
end)
test "nobody catches" (function(t) t.call("Subject.text(_:times:)", "x", -4) end)
test "a method, and recursion" (function(t)
  local shape = swift.new("Subject.Shape", "init(slowly:)", 7)
  t.equal(t.call(shape, "area(_:)", 2), 14)
  t.equal(t.call("Subject.fib(_:)", 10), 55)
end)
test "a stub" (function(t)
  t.stub("Subject.fib(_:)", 5)
  t.equal(t.call("Subject.fib(_:)", 10), 5)
end)
test "a handler beside it cannot wait, as in the program" (function(t)
  local problem
  local hook = method "Subject.fib(_:)":before(function() problem = select(2, pcall(swift.call, "Subject.quick(_:)", 1)) end)
  t.call("Subject.fib(_:)", 1)
  hook:remove()
  t.expect(problem:find("only an 'around' handler", 1, true), problem)
end)
test "the main actor" (function(t) t.call("Subject.onMain(_:)", 1) end)
LUA
capture tests timeout 60 "$scripthost" test tests.lua ./program
for name in 'a scalar' 'arguments on the stack' 'a text' 'a value in memory' 'an error' 'a method, and recursion' 'a stub' 'a handler beside it cannot wait, as in the program'; do
  says "a test calls an async function: $name" tests.out "ok      $name"
done
says 'an error that nobody catches fails the test' tests.out 'an error was not caught: Sad'
says 'what cannot run in a test ends with a sentence' tests.out "'Subject.onMain(_:)' has not returned for 10 s; a test keeps the main thread, so what belongs to the main actor does not run in it"
says 'they are counted' tests.out '10 tests, 2 failed'

# The program runs with the address sanitizer's memory: nothing is used after its end. What is hooked is optimised; of what calls it that takes long.
swiftc -swift-version 6 -O -sanitize=address -parse-as-library -emit-module -emit-object -module-name Subject "$here/Subject.swift" -o Subject.o
swiftc -swift-version 6 -Onone -sanitize=address -module-name Caller "$here/main.swift" Subject.o -I. -o sanitized 2>sanitized.log || bad 'the sanitized program is built' "$(tail -n 5 sanitized.log)"
for mode in watch args result instead twice failing await; do
  capture "$mode" env "${asan[@]}" timeout 120 "$scripthost" run -v --state state --patches "$here/patches/$mode" -- ./sanitized "$mode" 300
  ended "sanitized $mode: exits as alone" "$mode"
  # Arguments may be refused there: code that checks each store does not show that it takes them.
  check "sanitized $mode: nothing is wrong" sh -c "! grep -a AddressSanitizer $mode.err"
done
# Whatever a program dies of there is told in the log of the suite, with its place. Not among findings: the last of these are the options.
capture crash env "${asan[@]}:log_path=stderr" timeout 120 "$scripthost" run --state state --patches "$here/patches/failing" -- ./sanitized crash 300
last_words crash.err >crash.words
says 'sanitized crash: a trap is reported' crash.words 'ERROR: AddressSanitizer: ILL'
says 'sanitized crash: with its place' crash.words 'dieOnPurpose'
says 'sanitized crash: and its registers' crash.words 'Register values:'

# Foundation's own: a request over a real connection.
python3 -u "$here/server.py" >port &
server=$!
trap 'kill $server; chmod -R u+rwx "$work"; rm -rf "$work"' EXIT
until [ -s port ]; do sleep 0.1; done
swiftc -swift-version 6 -O -parse-as-library "$here/download.swift" -o download
capture alone ./download "$(cat port)"
capture patched "$scripthost" run -v --state state --patches "$here/patches/download" -- ./download "$(cat port)"
unchanged 'URLSession.data(from:) answers as ever' alone patched
says 'its handlers waited for 21 requests' patched.err '21 21'
says 'its error was seen' patched.err 'failed: true'
finish
