#!/usr/bin/env bash
# The dispatch rules on real calls, in -Onone and in -O.
. "$(dirname "${BASH_SOURCE[0]}")/../support/cases.sh"
run_cases hook-cases
