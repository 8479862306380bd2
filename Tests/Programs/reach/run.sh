#!/usr/bin/env bash
# Which calls hooks of each back end see, in -Onone and in -O, against what the explanation claimed: Tests/Support/ReachCases.
# The tables of docs/hooks.md are made by it: `run.sh --update` writes them, without it they are compared.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"

for level in debug release; do
  program=$(built_product $level reach-cases)
  if "$program" >"$work/$level"; then good "$level: no claim is more than hooks see: $(tail -n 1 "$work/$level")"; else bad "$level: no claim is more than hooks see" "$(grep -B1 OVERCLAIMED "$work/$level")" "$(tail -n 1 "$work/$level")"; fi
done
check 'the tables of docs/hooks.md are those of this run' python3 -B "$here/table.py" "$work/debug" "$work/release" "$root/docs/hooks.md" "$@"
finish
