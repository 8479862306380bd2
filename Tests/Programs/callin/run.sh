#!/usr/bin/env bash
# Scripts call the program: every kind of function, argument and mistake, with the callee in -Onone and in -O.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"

cd "$work"
for level in -Onone -O; do
  swiftc "$level" -wmo -suppress-warnings -parse-as-library -emit-library -emit-module -module-name Shop "$here/Shop.swift" -o libShop.so
  swiftc "$level" -suppress-warnings -I. -L. -lShop -Xlinker -rpath -Xlinker '$ORIGIN' -module-name Till "$here/main.swift" -o program
  capture run "$scripthost" run -v --state "state$level" --patches "$here/patch.lua" -- ./program
  check "$level: the program ends well" grep -qx 0 run.status
  # The handlers print one line for each check.
  grep -ao 'ok      .*' run.err >oks || true
  checks=$((checks + $(wc -l <oks)))
  grep -ao 'WRONG   .*' run.err >wrongs || true
  while IFS= read -r line; do bad "$level: ${line#WRONG   }"; done <wrongs
  check "$level: all three handlers ran to their ends" [ "$(grep -c 'ok      \(a member of another class\|another object is free\|a handler.s own call\)' oks)" -eq 3 ]
  says "$level: the program's own view" run.out '["apple"] 4.0 crate 4 ["observed 0 4"]'
  says "$level: no object is left" run.out 'alive 0'
done
finish
