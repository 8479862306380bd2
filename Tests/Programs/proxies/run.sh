#!/usr/bin/env bash
# Objects that conform to protocols at run time, and watched delegates, from Swift and from scripts; the module compiled by
# itself at -Onone and at -O.
# PROXIES_ROUNDS: rounds of the checks of leaks (default 20000).
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../support/newtypes.sh"

cd "$work"
at_both_levels "${PROXIES_ROUNDS:-20000}" 8
finish
