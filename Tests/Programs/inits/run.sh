#!/usr/bin/env bash
# Tests/Programs/inits/run.sh: handlers after initialisers that fail and after deinits, whose objects are gone by then.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
# What is freed reads as nothing that can be an object.
export SWIFT_BACKTRACE=enable=no MALLOC_PERTURB_=165
cd "$work"
for level in -Onone -O -Osize; do
  swiftc -swift-version 6 "$level" -wmo -parse-as-library -suppress-warnings -module-name Main "$here/main.swift" -o program
  capture plain ./program
  capture_loaded run timeout 120 "$scripthost" run -v --state state --patches "$here/patch" -- ./program
  same "$level: the program says the same" plain.out run.out
  check "$level: it ends as it does alone" cmp plain.status run.status
  for phase in before after; do
    says "$level: each failable initialiser is seen $phase" run.err "@ init(some:) $phase 7."
    says "$level: each one that throws is seen $phase" run.err "@ init(checked:) $phase 7."
    # An object of which no field was set has none to end.
    says "$level: the deinits of this class alone are seen $phase" run.err "@ deinit $phase 11."
  done
done
finish
