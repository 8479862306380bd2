#!/usr/bin/env bash
# Tests/Programs/locations/run.sh [SEED [COUNT]]: call plans of swift-format's bodies against its debug information.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"

program=$(toolchain_bin)/swift-format
python3 "$here/locations.py" "$scripthost" "$program" "${1:-${SCRIPTHOST_SEED:-$(date +%j)}}" "${2:-${LOCATIONS_COUNT:-4000}}" "$work"
