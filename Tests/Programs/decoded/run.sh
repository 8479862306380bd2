#!/usr/bin/env bash
# Tests/Programs/decoded/run.sh [SEED [COUNT [LIMIT]]]: what random selectors of swift-format decode, checked live in gdb.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
# The debugger does not come to the program's start through such a path.
if [[ $scripthost == *' '* ]]; then echo "left out: '$scripthost' holds a blank"; echo '0 checks'; exit 0; fi

if ! command -v gdb >/dev/null; then
  printf '\n*** SKIPPED: decoding against gdb, because there is no gdb in PATH ***\n\n' | tee /dev/stderr
  exit 0
fi
program=$(toolchain_bin)/swift-format
# Away from the project's own configuration of swift-format.
cp "${DECODED_INPUT:-$here/../counts/input.swift}" "$work/input.swift"
python3 -B "$here/decoded.py" "$scripthost" "$program" "$work" "${1:-${SCRIPTHOST_SEED:-$(date +%j)}}" "${2:-${DECODED_COUNT:-120}}" "${3:-6}" ${DECODED_COMMAND:-} "$work/input.swift"
