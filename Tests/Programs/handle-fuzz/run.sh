#!/usr/bin/env bash
# Random scripts: handles of every kind, used while they are valid, afterwards, in other coroutines, while their object ends.
# FUZZ_SEEDS (default 4), FUZZ_FIRST (default SCRIPTHOST_SEED, or the time), FUZZ_ROUNDS (default 20), PROGRAM_FLAGS as in program-unchanged/run.sh.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
flags=${PROGRAM_FLAGS:-}
[ -z "$flags" ] || export "${asan[@]}"
export SWIFT_BACKTRACE=enable=no
first=${FUZZ_FIRST:-${SCRIPTHOST_SEED:-$(date +%s)}}
cd "$work"
for level in -Onone -O; do
  compile=(swiftc -swift-version 6 "$level" $flags -wmo -parse-as-library -suppress-warnings)
  "${compile[@]}" -emit-module -emit-object -module-name Toys "$here/Toys.swift" -o Toys.o
  "${compile[@]}" -I. -module-name Main "$here/main.swift" Toys.o -o toys
  for seed in $(seq "$first" $((first + ${FUZZ_SEEDS:-4} - 1))); do
    mkdir -p "patches$seed"
    sed "s/tonumber(SEED) or 1/$seed/" "$here/patch/patch.lua" >"patches$seed/patch.lua"
    capture fuzz timeout 120 "$scripthost" run -v --state state --patches "patches$seed" -- ./toys "${FUZZ_ROUNDS:-20}"
    check "$level seed $seed: the program comes to its end ($(grep -ao '@ fuzz .*' fuzz.err | tail -n 1))" grep -q '^done' fuzz.out
    check "$level seed $seed: nothing is used after its end" bash -c '! grep -a -A30 AddressSanitizer fuzz.err'
  done
done
finish
