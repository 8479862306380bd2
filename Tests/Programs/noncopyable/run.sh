#!/usr/bin/env bash
# Tests/Programs/noncopyable/run.sh: values that cannot be copied are shown as what they are or not at all, and hooks leave the program what it is.
#
# They go through specialised generic functions, which return those with a `deinit` in memory; in types that can be copied only where what
# they hold can; as mere bits, which are consumed all the same; and as fields, whose types the program's records do not have.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
export SWIFT_BACKTRACE=enable=no
cd "$work"
for level in -Onone -O '-O -wmo' -Osize; do
  # shellcheck disable=SC2086
  swiftc -swift-version 6 -suppress-warnings -parse-as-library $level -module-name values -o values "$here/values.swift"
  capture plain timeout 60 ./values
  check "$level: the program alone comes to its end" grep -qx 'the end' plain.out
  capture traced timeout 60 "$scripthost" trace --self --state state -e 'values.**' -o traced.txt -- ./values
  same_run "$level: traced, it does what it does alone" plain traced
  capture handled timeout 60 "$scripthost" run -v --state state --patches "$here/handlers.lua" -- ./values
  check "$level: with handlers it ends as alone" [ "$(cat handled.status)" = 0 ]
  same "$level: and prints the same" plain.out handled.out
  # A value that is shown is the one that was passed.
  check "$level: what is returned is what was passed" python3 -B "$here/compare.py" traced.txt "$(case $level in -Onone | -O) echo 3 ;; *) echo 0 ;; esac)"
  for consumed in punch run open count; do
    check "$level: $consumed does not run twice" grep -q "$consumed(_:) is refused: .*cannot run twice" handled.err
  done
  check "$level: nor does a method that consumes bits" grep -q 'Ticket.spend() is refused: .*cannot run twice' handled.err
  check "$level: no handler fails" bash -c "! grep -e 'runs instead' -e 'switched off' handled.err"
  check "$level: a field whose type is not recorded is no empty tuple" bash -c "! grep -e 'mutex: ()' -e 'atomic: ()' traced.txt"
  [ "$level" != -Onone ] || says "$level: and the fields beside it are shown" traced.txt 'plain: 7'
done
finish
