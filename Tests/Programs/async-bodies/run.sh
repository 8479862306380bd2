#!/usr/bin/env bash
# Tests/Programs/async-bodies/run.sh: a call of an async function is one event and one handler's call, through however many bodies it goes; what is
# missed is told when the hooks are made. With the upcoming feature NonisolatedNonsendingByDefault and without.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
export SWIFT_BACKTRACE=enable=no
cd "$work"

# counted WHAT NAME CALLS SEEN TOLD: as many were seen as there were, or fewer, and that is told in the file.
counted() {
  if [ "$4" -eq "$3" ]; then good "$1: $2: $3 calls are $3"
  elif [ "$4" -lt "$3" ] && grep -aF "$2" "$5" | grep -qaE 'may miss|in part|refused|inlined|cannot hook'; then good "$1: $2: $4 of $3 calls, as was told"
  else bad "$1: $2: as many as there were, or what is missed is told" "expected: $3" "found:    $4" "$(grep -aF "$2" "$5" | head -n 5)"; fi
}

# judge WHAT PROGRAM: a trace, a rule and a handler on each function that the program counts.
judge() {
  local what=$1 program=$2 name calls handlers
  capture plain "./$program"
  ended "$what: the program itself ends" plain
  grep -a '^COUNT ' plain.out | cut -d ' ' -f 2- >own
  {
    echo 'patch { id = "bodies", version = "1.0.0", api = 1 }'
    while read -r name calls; do
      printf 'pcall(function() track "%s" { on = "%s" } end)\n' "$name" "$name"
      printf 'print(pcall(function() method "%s":around(function(call) print("SEEN %s") return call:original() end) end))\n' "$name" "$name"
    done <own
  } >bodies.lua
  rm -f events
  capture_loaded ruled timeout 120 "$scripthost" run -v --state state --events events --patches bodies.lua -- "./$program"
  same "$what: the program with handlers says the same" plain.out ruled.out
  ended "$what: and ends as it does" ruled
  local globs=()
  while read -r name calls; do globs+=(-e "$name"); done <own
  capture traced timeout 120 "$scripthost" trace -c --why --state state -o table "${globs[@]}" -- "./$program"
  same "$what: the traced program says the same" plain.out traced.out
  while read -r name calls; do
    handlers=$(grep -ac ": SEEN $name\$" ruled.err || true)
    counted "$what, a handler" "$name" "$calls" "$handlers" ruled.err
    counted "$what, a rule" "$name" "$calls" "$(grep -c "\"kind\":\"event\",\"name\":\"$name\"" events || true)" ruled.err
    counted "$what, a trace" "$name" "$calls" "$(awk -v s="$name" '$NF == s { for (i = 1; i < NF; i++) if ($i ~ /^[0-9]+$/ && $(i + 1) !~ /^(ns|us|ms|s)$/) { sum += $i; break } } END { print sum + 0 }' table)" table
  done <own
}

# ASYNC_BODIES_PART=N takes every Nth of the programs at -Osize and of those with -wmo, from which on the seed says.
part=${ASYNC_BODIES_PART:-1} number=${SCRIPTHOST_SEED:-0}
for level in -Onone -O -Osize '-O -wmo'; do
  for feature in '' '-enable-upcoming-feature NonisolatedNonsendingByDefault'; do
    for module in Chain Dead Round; do
      case $level in -Osize | *-wmo) number=$((number + 1)) && [ $((number % part)) -eq 0 ] || continue ;; esac
      # shellcheck disable=SC2086
      swiftc -swift-version 6 -suppress-warnings -parse-as-library -g $level $feature -module-name $module "$here/$module.swift" -o program
      judge "$module, $level${feature:+ with the feature}" program
    done
  done
done
finish
