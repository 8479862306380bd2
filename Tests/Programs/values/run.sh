#!/usr/bin/env bash
# Tests/Programs/values/run.sh [SEED [COUNT]]: random functions of all kinds over types of all kinds, patched in every way.
#
# Writes modules of up to 500 functions, COUNT in all, and programs that call them, for each of VALUES_LEVELS; what a
# program and the patches print is known beforehand. Compares the plans of all bodies with the compiler's own lowering as
# well. VALUES_SOAK=plans compares plans only, without running anything. VALUES_SPREAD=N leaves N levels out for each
# module, in turn: with 2 of the three each module is compiled at one.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
seed=${1:-${VALUES_SEED:-${SCRIPTHOST_SEED:-$(date +%j)}}}
count=${2:-${VALUES_COUNT:-2000}}
read -ra levels <<<"${VALUES_LEVELS:--Onone -O -Osize}"
read -ra modes <<<"${VALUES_MODES:-decode replace around instead twice}"
jobs=${VALUES_JOBS:-2}
. "$here/patched.sh"
export PRODUCTS=$products
python3 "$here/mutants.py" --check "$root/Sources"
# Groups and kinds of functions and kinds of types to leave out, separated by `/`.
export VALUES_WITHOUT=${VALUES_WITHOUT-}
# Of four seeds in a row, each asks for another quarter of the tables' cells.
most=${VALUES_BATCH:-500}
batches=$(((count + most - 1) / most))
each=$(((count + batches - 1) / batches))
seeds=$(seq -s, $((seed * 4)) $((seed * 4 + batches - 1)))
echo "seed $seed: $batches modules of $each functions (seeds $seeds), levels ${levels[*]}${VALUES_WITHOUT:+, without $VALUES_WITHOUT}"

# kit LEVEL: the module that is the same for all seeds, once for each level.
kit() { mkdir "$work/kit$1" && cd "$work/kit$1" && compile_module "$1" Kit "$here/Kit.swift" -disable-cmo; }

# compare SEED LEVEL: the plans against the signatures before LLVM's passes, which are what the convention says. Whether an async function takes its
# caller's actor the code alone tells.
compare() {
  swiftc -emit-library -o libSubject.so Kit.o Types.o Subject.o
  local code=()
  [ -z "$(isolation "$1")" ] || code=(--evidence)
  "$products/call-plans" "${code[@]}" ./libSubject.so >plans
  local status=0
  python3 "$here/compare_plans.py" plans Kit.ll Types.ll Subject.ll >plans.compared || status=1
  tail -n 40 plans.compared | cut -c1-400 | sed 's/^/  /'
  wc -l <plans >checks
  rm -f ./*.ll
  return $status
}

# one SEED LEVEL: compiles, runs bare and under every patch, compares. Prints what it found.
one() {
  local seed=$1 directory=$work/$1$2 mode module failed=0 status compared=() rules evolving
  mapfile -t rules < <(isolation "$1"; across "$1" "$2")
  mapfile -t evolving < <(resilient "$1")
  mkdir "$directory" && cd "$directory"
  python3 "$here/generate.py" "$seed" "$each" .
  cp "$work/kit$2/Kit".* .
  for module in Types Subject; do compile_module "$2" $module $module.swift "${rules[@]}" "${evolving[@]}"; done
  if [ "${VALUES_SOAK:-}" != plans ]; then
    "${swift[@]}" "$2" "${rules[@]}" -module-name Caller main.swift Kit.o Types.o Subject.o -o program
    timeout 60 ./program values.bin bare.out >/dev/null 2>bare.err || { echo "  the program itself fails: $(tail -n 1 bare.err)"; failed=1; }
    for mode in "${modes[@]}"; do
      status=0
      patched "$mode" program "$mode" 120 || status=$?
      [ "$status" -eq 0 ] || { echo "  $mode: exit status $status, last $(tr -d '\0' <"$mode.out" | tail -n 1 | cut -c1-80)"; failed=1; }
      compared+=("$mode")
    done
    if [ "$2" != -Onone ] && [ -z "${VALUES_NO_PRIVATE:-}" ]; then
      # One module, private functions: what is said must be right, the rest flagged.
      "${swift[@]}" "$2" "${rules[@]}" -module-name Subject Private.swift Kit.o Types.o -o private
      timeout 60 ./private values.bin bare-private.out >/dev/null 2>&1 || true
      patched private private decode 120 || { echo "  private: exit status $?"; failed=1; }
      compared+=(private)
    fi
    VALUES_RESILIENT=${evolving[*]} python3 "$here/check.py" "$seed" "$each" . "${compared[@]}" || failed=1
  fi
  compare "$1" "$2" || failed=1
  return $failed
}

# levels_of SEED: those at which its module is compiled.
levels_of() {
  local index
  for index in "${!levels[@]}"; do
    [ $(((index + ${#levels[@]} - $1 % ${#levels[@]}) % ${#levels[@]})) -lt "${VALUES_SPREAD:-0}" ] || echo "${levels[index]}"
  done
}

for level in "${levels[@]}"; do (kit "$level"); done
running=0
for s in ${seeds//,/ }; do
  for level in $(levels_of "$s"); do
    if [ "$running" -ge "$jobs" ]; then wait -n || true; running=$((running - 1)); fi
    # Kept: what is compared afterwards, and everything of what failed.
    (one "$s" "$level" && touch "$work/$s$level.good"; find "$work/$s$level" -type f ! -name counts.json ! -name checks -delete) >"$work/log$s$level" 2>&1 &
    running=$((running + 1))
  done
done
while [ "$running" -gt 0 ]; do wait -n || true; running=$((running - 1)); done
for s in ${seeds//,/ }; do
  for level in $(levels_of "$s"); do
    cat "$work/log$s$level"
    check "$level, seed $s (repeat with: $0 $seed $count)" [ -e "$work/$s$level.good" ]
    checks=$((checks + $([ "${VALUES_SOAK:-}" = plans ] && echo 0 || echo $((each * ${#modes[@]}))) + $(cat "$work/$s$level/checks" 2>/dev/null || echo 0)))
  done
done
[ -z "${VALUES_KEEP:-}" ] || { mkdir -p "$VALUES_KEEP" && cp -r "$work"/. "$VALUES_KEEP"; }
if [ "${VALUES_SOAK:-}" != plans ]; then
  [ "${VALUES_TABLES:-1}" = 0 ] || compared 1 'every cell of the tables is reached' python3 "$here/report.py" "$each" "$seeds" "$work"/*/counts.json
  [ "${VALUES_TABLES:-1}" = 0 ] || cat "$work/.compared"
fi

# What many calls with replaced arguments and results leave behind, for each kind of value; 0 leaves it out.
rounds=${VALUES_ROUNDS:-20000}
if [ "${VALUES_SOAK:-}" != plans ] && [ "$rounds" -gt 0 ]; then
  cd "$work"
  swiftc -swift-version 6 -O -parse-as-library -module-name Lifetimes "$here/Lifetimes.swift" -o lifetimes
  timeout "${VALUES_LIFETIMES_TIMEOUT:-200}" "$products/scripthost" run -v --state "$work/state" --patches "$here/lifetimes" -- \
    ./lifetimes "$rounds" >lifetimes.out 2>lifetimes.err && good 'the program of lifetimes ends well' || bad 'the program of lifetimes ends well' "$(tail -n 3 lifetimes.err)"
  printf '\nCalls with two values swapped and the result replaced: %s of each kind\n' "$rounds"
  cat lifetimes.out
  # In KB, from each tenth of the calls to the next: some at first, and nothing that goes on.
  compared 1 'nothing is left behind' awk -v rounds="$rounds" '
    { all = late = 0; for (i = 9; i <= NF; i++) { all += $i; if (i > 12) late += $i } }
    $3 != rounds || $5 != rounds || $7 != 0 || NF != 17 || all > 2048 || late > 512 { print "  wrong: " $0; bad = 1 }
    END { exit bad || NR < 26 }' lifetimes.out
  # A collection that took too long on a busy machine shows in what is left, if in anything.
  grep -v "$not_proven\|loaded, [0-9]* hooks\|old values ended while\|stopped: ran longer than .* Lifetimes.settle" lifetimes.err >unexpected || true
  same 'nothing else is reported' /dev/null unexpected
  checks=$((checks + 4 * $(wc -l <lifetimes.out)))
fi
finish
