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

# The program runs with the address sanitizer's memory: nothing is used after its end.
swiftc -swift-version 6 -O -sanitize=address -parse-as-library -emit-module -emit-object -module-name Subject "$here/Subject.swift" -o Subject.o
swiftc -swift-version 6 -O -sanitize=address -module-name Caller "$here/main.swift" Subject.o -I. -o sanitized 2>sanitized.log || bad 'the sanitized program is built' "$(tail -n 5 sanitized.log)"
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
