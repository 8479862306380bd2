#!/usr/bin/env bash
# Scripts that try to hold a program up, to eat its memory or to end it, in hundreds of ways (cases.py): the program prints what it prints without
# them, no call takes more than 2 s longer, it has memory left, and each failure is told with the script's name.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
cd "$work"
count=$(python3 "$here/cases.py" cases)
swiftc -swift-version 5 -O -wmo -module-name Hostile "$here/Service.swift" cases/main.swift -o hostile
./hostile 0 "$count" 1 times.alone >alone
# What a call may take: the 2 s of the budget for waiting, and what a busy machine adds to the last thing it did.
longest=5000
# Nothing is left of what a script wanted to keep when its handler was stopped; what all of a group may keep together is far below this.
most_memory=1000000

# from_to FROM TO STEP: runs the program with the patches of these cases. In PREFIX.*: what it said, its exit status, times, memory in KiB.
from_to() {
  local prefix=run.$1 i patches=()
  for ((i = $1; i < $2; i += $3)); do patches+=(--patches "cases/$(printf 'c%03d.lua' "$i")"); done
  local status=0
  SWIFT_BACKTRACE=enable=no timeout -k 5 240 /usr/bin/env python3 - "$prefix.memory" "$scripthost" run --state "state.$1" "${patches[@]}" -- ./hostile "$1" "$2" "$3" "$prefix.times" \
    >"$prefix.out" 2>"$prefix.err" </dev/null <<'PYTHON' || status=$?
import os, resource, subprocess, sys
status = subprocess.call(sys.argv[2:], stdin=subprocess.DEVNULL)
open(sys.argv[1], 'w').write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(status if status >= 0 else 128 - status)
PYTHON
  echo "$status" >"$prefix.status"
  rm -rf "state.$1"
}

# in_order FROM TO STEP: the program's output is its own.
in_order() { [ "$(cat "run.$1.status")" = 0 ] && cmp -s "run.$1.out" <(sed -n "$(($1 + 1))~$3p; $2q" alone); }

# HOSTILE_PART=N takes every Nth of them, from which on the seed says; a dozen is one run.
each=12 part=${HOSTILE_PART:-1}
mapfile -t starts < <(seq $((${SCRIPTHOST_SEED:-0} % part)) $((each * part)) $((count - 1)))
for start in "${starts[@]}"; do
  end=$((start + each * part < count ? start + each * part : count))
  echo "$start $end $part"
done >groups
export -f from_to
export scripthost
xargs -P 2 -L 1 bash -c 'from_to "$@"' from_to <groups

while read -r start end step; do
  check "cases $start to $((end - 1)): the program prints its own and ends" in_order "$start" "$end" "$step"
  check "cases $start to $((end - 1)): memory, $(cat "run.$start.memory") KiB" [ "$(cat "run.$start.memory")" -lt $most_memory ]
  if ! in_order "$start" "$end" "$step"; then
    # Which of them was it?
    tail -n 3 "run.$start.err" | cut -c 1-200
    mkdir -p one
    for ((i = start; i < end; i += step)); do
      (from_to "$i" $((i + 1)) 1)
      in_order "$i" $((i + 1)) 1 || bad "$(sed -n "$((i + 1))p" cases/cases)" "exit status $(cat "run.$i.status")" "$(tail -n 5 "run.$i.err" | cut -c 1-240)"
    done
  fi
  while read -r i milliseconds; do
    [ "$milliseconds" -le $longest ] || bad "$(sed -n "$((i + 1))p" cases/cases)" "the call took $milliseconds ms, expected at most $longest"
  done <"run.$start.times"
  for ((i = start; i < end; i += step)); do
    read -r name told rest < <(sed -n "$((i + 1))p" cases/cases)
    [ "$told" != told ] || grep -qa "$name\.lua" "run.$start.err" || bad "$name $rest" 'nothing was said of it'
  done
done <groups
check "$count scripts, 200 at least" [ "$count" -ge 200 ]
good "the longest call took $(sort -n -k 2 run.*.times | awk 'NF > 1 { last = $2 } END { print last + 0 }') ms"
finish
