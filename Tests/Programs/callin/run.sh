#!/usr/bin/env bash
# Scripts call the program: every kind of function, argument and mistake, with the callee in -Onone and in -O.
# CALLIN_ROUNDS: rounds of 14 calls for the check of leaks (default 10000).
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"

cd "$work"
for level in -Onone -O; do
  swiftc "$level" -wmo -suppress-warnings -parse-as-library -emit-library -emit-module -module-name Shop "$here/Shop.swift" -o libShop.so
  swiftc "$level" -suppress-warnings -I. -L. -lShop -Xlinker -rpath -Xlinker '$ORIGIN' -module-name Till "$here/main.swift" -o program
  capture run timeout 300 "$scripthost" run -v --state "state$level" --patches "$here/patch.lua" -- ./program "${CALLIN_ROUNDS:-10000}"
  check "$level: the program ends well" grep -qx 0 run.status
  # The handlers print one line for each check.
  grep -ao 'ok      .*' run.err >oks || true
  checks=$((checks + $(wc -l <oks)))
  grep -ao 'WRONG   .*' run.err >wrongs || true
  while IFS= read -r line; do bad "$level: ${line#WRONG   }"; done <wrongs
  check "$level: all three handlers ran to their ends" [ "$(grep -c 'ok      \(a member of another class\|another object is free\|a handler.s own call\)' oks)" -eq 3 ]
  says "$level: the program's own view" run.out '["apple"] 4.0 crate 4 ["observed 0 4"]'
  read -r _ rounds _ alive _ grown < <(grep '^soak' run.out)
  echo "$level: $rounds rounds of 14 calls: $alive objects not collected yet, $grown KB grown"
  check "$level: objects are let go" [ "$alive" -lt 5000 ]
  check "$level: memory is flat" [ "$grown" -lt 2048 ]
done
finish
