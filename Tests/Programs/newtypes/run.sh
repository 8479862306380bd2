#!/usr/bin/env bash
# Classes made at run time, of a module compiled by itself at -Onone and at -O, from Swift and from scripts, and of Foundation.
# NEWTYPES_ROUNDS: rounds of the checks of leaks (default 20000).
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../support/newtypes.sh"

cd "$work"
at_both_levels "${NEWTYPES_ROUNDS:-20000}" 18

against_library $flags -Onone -module-name App "$here/foundation/main.swift" "${kit[@]}" -o foundation
capture foundation timeout 120 ./foundation
check 'Foundation: the program ends well' grep -qx 0 foundation.status
marks 'Foundation' foundation.out
finish
