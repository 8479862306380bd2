#!/usr/bin/env bash
# Tests/Programs/refused/run.sh: what a script puts, keeps or throws and cannot be is refused, and the program prints what it prints alone.
#
# Objects of a superclass where Self is returned or a subclass's initialiser goes on; errors of async functions of a library built for
# evolution, whose stack is not known; generic types that cannot be copied; very deep values; values of an odd size; plain values for an
# Any that holds an enum. What can be read is: values of a library built for evolution where they lie, self after a call that leaves it.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
cd "$work"
mkdir patches && cp "$here/patch.lua" patches
export SWIFT_BACKTRACE=enable=no
for level in -Onone -O; do
  swiftc -swift-version 5 $level -wmo -enable-library-evolution -parse-as-library -emit-library -emit-module -emit-module-path Lib.swiftmodule \
    -module-name Lib "$here/Lib.swift" -o libLib.so
  swiftc -swift-version 5 -suppress-warnings $level -I . -L . -lLib -Xlinker -rpath -Xlinker '$ORIGIN' -module-name Case "$here/main.swift" -o program
  ./program >alone
  sed -i 's/^1$/caught lua 5 7 false/' alone
  capture patched "$scripthost" run --patches patches --state state --events events -- ./program
  check "$level: ends as alone" [ "$(cat patched.status)" -eq 0 ]
  same "$level: prints as alone, but for the error that the script throws" alone patched.out
  for what in init same maybe; do
    check "$level: $what is told why" grep -q "\"message\":\"$what: .*expected an object of the class of self, 'Case.Dog', got one of 'Lib.Animal'" events
  done
  for what in mutex guarded; do
    check "$level: $what is refused" sh -c "grep -q '\"message\":\"$what: ' events && ! grep -q '\"message\":\"$what: taken' events"
  done
  says "$level: collections of a library built for evolution are read" events '"message":"evolving: 2 second 1 1 single perhaps anything"'
  says "$level: self is read after the call" events '"message":"order: 1 order 1"'
  for what in table number text; do
    check "$level: a $what where an Any holds an enum is refused" grep -q "\"message\":\"any $what: .*this Any holds a value of type Case.Payment" events
  done
  for what in 'paid: cash' 'paid: card(number: \"9\", 9)' 'paid: card(number: \"8\", 8)' 'shown: [\"a\", \"list\"]'; do
    says "$level: $what" events "\"message\":\"$what\""
  done
  rm -rf events state
done
finish
