#!/usr/bin/env bash
# Which calls hooks of each back end see, in -Onone and in -O, against what the explanation claimed: Tests/Support/ReachCases.
# The tables of docs/hooks.md are made by it: `run.sh --update` writes them, without it they are compared.
set -eu
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
swift build --package-path "$root" --product reach-cases >&2
swift build --package-path "$root" -c release --product reach-cases >&2
status=0
for level in debug release; do
  echo "== $level"
  "$root/.build/$level/reach-cases" >"$work/$level" || status=1
  grep -B1 OVERCLAIMED "$work/$level" || true
  tail -n 1 "$work/$level"
done
python3 -B "$here/table.py" "$work/debug" "$work/release" "$root/docs/hooks.md" "$@" || status=1
exit "$status"
