#!/usr/bin/env bash
# Tests/Programs/locations/run.sh [SEED [COUNT]]: call plans of swift-format's bodies against its debug information, or of those of the program of
# the toolchain that LOCATIONS_PROGRAM names.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"

program=$(toolchain_bin)/${LOCATIONS_PROGRAM:-swift-format}
python3 "$here/locations.py" "$scripthost" "$program" "${1:-${SCRIPTHOST_SEED:-$(date +%j)}}" "${2:-${LOCATIONS_COUNT:-4000}}" "$work"
