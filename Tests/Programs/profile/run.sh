#!/usr/bin/env bash
# A sampling profile: its sum is the processor time used, functions have their shares, and names are found offline.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
cd "$work"
export_() { timeout 60 "$scripthost" export --state "$1" "${@:2}" 2>/dev/null; }
# share FILE FUNCTION: milliseconds of stacks that end in or pass the function.
share() { awk -v name="$2" 'index($0, name) { sum += $NF } END { printf "%d", sum / 1000000 }' "$1"; }

# With frame pointers, as the package manager has programs compiled.
frames='-Xcc -fno-omit-frame-pointer'
# Three parts of four are roast's.
are_shared() { [ $((roast * 100)) -ge $(((roast + grind) * 60)) ] && [ $((roast * 100)) -le $(((roast + grind) * 90)) ]; }

for level in -Onone -O; do
  # shellcheck disable=SC2086
  swiftc -swift-version 6 $level $frames -module-name working "$here/working.swift" -o working 2>build.log || bad "$level: it builds" "$(tail -n 3 build.log)"
  # What it prints is the same, however long it works.
  capture alone ./working 100
  # Samples are few on a busy machine: one of a few runs has to have its shares right.
  for _ in 1 2 3; do
    rm -rf "state$level"
    capture profiled timeout 60 "$scripthost" run --state "state$level" --profile 199 -- ./working
    export_ "state$level" --folded - >folded
    total=$(share folded 'on processor') roast=$(share folded 'working.roast(_:)') grind=$(share folded 'working.grind(_:)') outer=$(share folded 'working.breakfast()')
    ! are_shared || break
  done
  same_run "$level: the program goes on as it did" alone profiled
  # 2400 ms are used for certain; the start of the program is before or beside them.
  check "$level: $total ms are in the profile" [ "$total" -ge 2000 ]
  check "$level: roast has its three parts: $roast of $((roast + grind)) ms" are_shared
  check "$level: callers are there: breakfast has $outer ms" [ $((outer * 100)) -ge $(((roast + grind) * 90)) ]
  check "$level: workers of dispatch are there" grep -q '_dispatch.*working.breakfast()' folded
  check "$level: none of our own frames are" bash -c '! grep -qE "hkt_|ccrash_|HostThread" folded'
done
check 'speedscope is written' export_ state-O --speedscope profile.json
check 'with the functions as frames' python3 -c 'import json; p = json.load(open("profile.json")); assert "working.roast(_:)" in [f["name"] for f in p["shared"]["frames"]]'
check 'the report is written' "$scripthost" report --state state-O -o report.html
check 'its flame graph has them' grep -q 'working.grind(_:)' report.html

# Another build at the path: its names would be wrong ones.
swiftc -swift-version 6 -Onone -module-name working "$here/working.swift" -o working 2>/dev/null
export_ state-O --folded - >folded
check 'addresses of a build that is gone are not named' bash -c "grep -q 'working+0x' folded && ! grep -q 'working.roast' folded"

cat >profile.lua <<'LUA'
patch { id = "profile", version = "1.0.0", api = 1 }
profile { hz = 99 }
LUA
capture lua timeout 60 "$scripthost" run --state lua --patches profile.lua -- ./working 4
ended 'a patch may begin it' lua
export_ lua --folded - >folded
says 'and it is recorded' folded 'working.roast(_:)'
# On demand, in a program that runs.
unset XDG_RUNTIME_DIR SCRIPTHOST_CONTROL
"$scripthost" run --state demand -- ./working >demand.out 2>demand.err &
asked=$!
until timeout 20 "$scripthost" patch load $asked profile.lua --state demand >loaded 2>&1 || ! kill -0 $asked 2>/dev/null; do sleep 0.05; done
wait $asked || bad 'a program that is profiled on demand ends well' "$(tail -n 3 demand.err)"
export_ demand --folded - >folded
says 'it may begin in a program that runs' folded 'working.roast(_:)'
same 'which goes on as it did' alone.out demand.out
sed -i 's/99/5000/' profile.lua
capture refused timeout 60 "$scripthost" run --state refused --patches profile.lua -- ./working 100
says 'a rate out of range is told' refused.err 'a whole number from 1 to 1000'
finish
