#!/usr/bin/env bash
# The back ends beside the entry patch on real calls, in -Onone and in -O: Tests/Support/SlotCases.
#
# SCRIPTHOST_SEED chooses the random hooks; without it the seeds are new ones, and printed.
. "$(dirname "${BASH_SOURCE[0]}")/../support/cases.sh"
run_cases slot-cases
