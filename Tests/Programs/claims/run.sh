#!/usr/bin/env bash
# Tests/Programs/claims/run.sh: what is claimed of hooks holds: programs count their own calls, in builds of many kinds.
# CLAIMS_COUNT builds (12), CLAIMS_SEED for one that was printed.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"

seed=${CLAIMS_SEED:-14}
judged '' python3 "$here/claims.py" "$scripthost" "$work" "${CLAIMS_COUNT:-12}" "$seed"
check 'all builds were judged' [ "$checks" -ge "${CLAIMS_COUNT:-12}" ]
finish
