#!/usr/bin/env bash
# Objects that conform to protocols at run time, and watched delegates; the module compiled by itself at -Onone and at -O.
# PROXIES_ROUNDS: rounds of the check of leaks (default 20000).
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../support/library.sh"
rounds=${PROXIES_ROUNDS:-20000}
cd "$work"

shop() { swiftc -swift-version 6 -suppress-warnings -parse-as-library -emit-library -emit-module -module-name Shop "$here/Shop.swift" -o libShop.so "$@"; }

for level in -Onone -O; do
  # -wmo lets the compiler see the whole module, at -Onone too: it is what makes calls direct.
  if [ "$level" = -O ]; then shop -O -wmo; else shop -Onone; fi
  against_library -Onone -I. -L. -lShop -module-name Main "$here/main.swift" -o program
  capture run timeout 300 ./program "$rounds" "$level"
  check "$level: the program ends well" grep -qx 0 run.status
  marks "$level" run.out
  check "$level: all parts ran" grep -q "ok      memory is flat" run.out
  grep -a 'memory is flat' run.out
done
finish
