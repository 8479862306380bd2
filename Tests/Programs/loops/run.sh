#!/usr/bin/env bash
# Tests/Programs/loops/run.sh: calls with which a function ends, of itself, the optimiser makes a loop, and nothing sees them: of each function where
# that may be so it is told when the hooks are made, and of few others.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
cd "$work"
told='calls of itself that the compiler made a loop of'

# has NAME: the pattern of a function's selector, which its name is in.
has() { printf '(^|[. ])%s(\\(|\\.get|$| )' "$1"; }

for level in $levels; do
  swiftc -swift-version 5 "$level" -g -module-name Loops "$here/loops.swift" -o loops
  capture plain ./loops
  capture traced "$scripthost" trace -c --why --state state -o table -e 'Loops.**' -- ./loops
  same "$level: the traced program says the same" plain.out traced.out
  grep -F "$told" table >telling || true
  sed -n 's/^COUNT //p' plain.out >own
  missed=0
  while read -r name calls; do
    seen=$(awk -v name="$(has "$name")" '$NF ~ name { for (i = NF - 1; i > 0; i--) if ($i ~ /^[0-9]+$/) { sum += $i; break } } END { print sum + 0 }' table)
    if [ "$seen" -eq "$calls" ]; then good "$level: $name: all of $calls calls are seen"
    elif [ "$seen" -lt "$calls" ] && grep -qE "$(has "$name")" telling; then
      missed=$((missed + 1))
      good "$level: $name: $seen of $calls calls are seen, as was told"
    else bad "$level: $name: what is missed is told" "called $calls times, $seen seen" "$(grep -E "$(has "$name")" table)"; fi
  done <own
  if [ "$level" = -Onone ]; then
    check "$level: nothing is told where nothing is optimised" [ ! -s telling ]
    continue
  fi
  check "$level: the optimiser made loops of calls" [ "$missed" -ge 15 ]
  for name in sumOf joined values squares blanks raise visit straight throwing; do
    check "$level: $name: no loop of it is taken for calls" bash -c "! grep -E '$(has "$name")' telling"
  done
  "$scripthost" explain ./loops 'Loops.down(_:_:)' >explained
  says "$level: explain does not call the family covered" explained "family     not known to be covered: a hook may miss $told"
  printf '%s\n' 'patch { id = "loops", version = "1.0.0", api = 1 }' 'track "gcd" { on = "Loops.gcd(_:_:)" }' >loops.lua
  capture_loaded ruled "$scripthost" run -v --state state --patches loops.lua -- ./loops
  says "$level: loading a patch tells it" ruled.err "hooks on 'Loops.gcd(_:_:)' may miss $told"
done

# In a large program that is so of few functions: what is told of all is told of none.
program=$(toolchain_bin)/swift-format
capture large timeout -s KILL 300 "$scripthost" trace -c --why --state state -o table -e '*.**' -- "$program" --version
matched=$(awk 'NR == 1 { print $1 }' table)
count=$(grep -cF "$told" table) || true
check "swift-format: told of some of $matched functions, $count" [ "$count" -gt 0 ]
check "swift-format: told of less than one in a hundred of $matched functions, $count" [ $((count * 100)) -lt "$matched" ]
finish
