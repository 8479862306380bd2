#!/usr/bin/env bash
# The dispatch rules on real calls, in -Onone and in -O.
set -eu
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
swift build --package-path "$root" --product hook-cases >&2
swift build --package-path "$root" -c release --product hook-cases >&2
for level in debug release; do
  echo "== $level"
  "$root/.build/$level/hook-cases"
done
