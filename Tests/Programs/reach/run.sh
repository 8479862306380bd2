#!/usr/bin/env bash
# Which calls hooks of each back end see, in -Onone and in -O, against what the explanation claimed: Tests/Support/ReachCases.
# The tables of docs/hooks.md are made by it: `run.sh --update` writes them, without it they are compared.
. "$(dirname "${BASH_SOURCE[0]}")/../../../scripts/common.sh"
need_swift
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
for level in debug release; do
  program=$(built_product $level reach-cases)
  echo "== $level"
  "$program" >"$work/$level" || status=1
  grep -B1 OVERCLAIMED "$work/$level" || true
  tail -n 1 "$work/$level"
done
python3 -B "$here/table.py" "$work/debug" "$work/release" "$root/docs/hooks.md" "$@" || status=1
exit "$status"
