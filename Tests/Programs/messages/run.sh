#!/usr/bin/env bash
# Messages that no member answers, from scripts: to other objects, to functions, to nobody; with the callee in -Onone and in -O.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"

cd "$work"
checked "$here/patch.lua"
for level in -Onone -O; do
  swiftc "$level" -wmo -suppress-warnings -parse-as-library -emit-library -emit-module -module-name Shop "$here/Shop.swift" -o libShop.so
  swiftc "$level" -suppress-warnings -I. -L. -lShop -Xlinker -rpath -Xlinker '$ORIGIN' -module-name Till "$here/main.swift" -o program
  capture run timeout 120 "$scripthost" run -v --state "state$level" --patches patch.lua -- ./program
  check "$level: the program ends well" grep -qx 0 run.status
  # The handlers print one line for each check.
  grep -ao 'ok      .*' run.err >oks || true
  checks=$((checks + $(wc -l <oks)))
  grep -ao 'WRONG   .*' run.err >wrongs || true
  while IFS= read -r line; do bad "$level: ${line#WRONG   }"; done <wrongs
  check "$level: all handlers ran to their ends" [ "$(grep -c 'ok      \(to what\|later, too\)' oks)" -eq 2 ]
  says "$level: the program's own view" run.out '2.0 shipped 2 4 2'
done
finish
