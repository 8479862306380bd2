#!/usr/bin/env bash
# Tests/Programs/values/mutants.sh [SEED [COUNT]]: does the test notice lowering that is wrong on purpose?
#
# Puts every change of mutants.py into one copy of the sources, each behind a number that the environment chooses, builds it
# once, and runs generated programs with each: something must be found wrong in one of them, or refused without a reason, and
# nothing in any without a mutant. The programs are those of MUTANTS_PROGRAMS, seeds from SEED on at their levels: a mutant is
# looked for with one means in all of them before the next. Every step has a time limit, so that a mutant that hangs is one that
# was caught; the whole takes ten minutes or so and is not part of scripts/test.
# MUTANTS_ONLY: numbers of mutants, 0 is none. MUTANTS_DIRECTORY keeps the copy and the programs, which are not built again when they are there.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
first=${1:-160}
count=${2:-500}
read -ra levels <<<"${MUTANTS_PROGRAMS:--O -Onone -O -Onone -Osize}"
limit=${MUTANTS_LIMIT:-40}  # seconds for one run of a program; without a mutant it takes two
copy=${MUTANTS_DIRECTORY:-$(mktemp -d)}
[ -n "${MUTANTS_DIRECTORY:-}" ] || trap 'rm -rf "$copy"' EXIT
. "$here/patched.sh"
export PYTHONDONTWRITEBYTECODE=1 SWIFT_BACKTRACE=enable=no VALUES_PART=${VALUES_PART:-5}
say() { printf '%(%H:%M:%S)T %s\n' -1 "$*" >&2; }

python3 "$here/mutants.py" --check "$root/Sources"
products=$copy/.build/debug
export PRODUCTS=$products
if [ ! -x "$products/call-plans" ]; then
  mkdir -p "$copy"
  cp -r "$root/Package.swift" "$root/Sources" "$root/Tests" "$root/scripts" "$root/Benchmarks" "$copy"
  python3 "$here/mutants.py" "$copy/Sources"
  for product in scripthost ScriptHostBoot call-plans; do
    say "building $product with the mutants"
    timeout 1800 swift build --package-path "$copy" --product "$product" >"$copy/build.log" 2>&1 || { tail "$copy/build.log"; exit 1; }
  done
  "$root/scripts/build-preload" "$products"
fi

# compile SEED LEVEL: the program and what it is compared with.
compile() {
  local module sources="$1 $2 $count $VALUES_PART $(cat "$here"/*.py "$here"/*.lua "$here/Kit.swift" | md5sum)"
  [ "$(cat "$copy/program$1/sources" 2>/dev/null)" != "$sources" ] || return 0
  say "compiling $count functions, seed $1, $2"
  rm -rf "$copy/program$1" && mkdir "$copy/program$1" && cd "$copy/program$1"
  python3 "$here/generate.py" "$1" "$count" .
  cp "$here/Kit.swift" .
  for module in Kit Types Subject; do compile_module "$2" $module $module.swift -disable-cmo; done
  "${swift[@]}" "$2" -disable-cmo -module-name Caller main.swift Kit.o Types.o Subject.o -o program
  "${swift[@]}" "$2" -disable-cmo -module-name Subject Private.swift Kit.o Types.o -o private
  swiftc -emit-library -o libSubject.so Kit.o Types.o Subject.o
  timeout "$limit" ./program values.bin bare.out >/dev/null
  timeout "$limit" ./private values.bin bare-private.out >/dev/null || true
  echo "$sources" >sources
}

# unlike SEED: where the plans of the bodies are not what the compiler does.
unlike() {
  cd "$copy/program$1"
  timeout 120 "$products/call-plans" ./libSubject.so >plans || true
  timeout 120 python3 "$here/compare_plans.py" plans Kit.ll Types.ll Subject.ll \
    | sed -n 's/.*agree but for \([1-9][0-9]* bodies\);.*/plans: \1 wrong/p' || true
}

# wrong SEED MODE: what a run of a program gets wrong, or refuses without a reason; nothing where all is well.
wrong() {
  local patches=$2 binary=program status=0
  cd "$copy/program$1"
  [ "$2" != private ] || patches=decode binary=private
  patched "$2" $binary "$patches" "$limit" || status=$?
  [ $status = 0 ] || echo "$2: exit status $status"
  # A busy machine shows nothing.
  if grep -qa 'stopped: ran longer than' "$2.err"; then
    [ "$SCRIPTHOST_MUTANT" != 0 ] || echo "$2: the machine is too busy: $(grep -a -m 1 'stopped: ran longer than' "$2.err")"
    return
  fi
  timeout 120 python3 "$here/check.py" "$1" "$count" . "$2" | sed -n 's/^  \([a-z]*:\).* \([1-9][0-9]* wrong\)$/\1 \2/p' || true
  timeout 120 python3 "$here/report.py" --refused counts.json | head -n 3 || true
}

# found: with the mutant in SCRIPTHOST_MUTANT, which program shows it and how; with none, all that is wrong in any.
found() {
  local k seed mode how
  for mode in unlike decode replace twice private; do
    for k in "${!levels[@]}"; do
      seed=$((first + k))
      # What is private in one module is another test where nothing is optimised.
      if [ $mode = private ] && [ "${levels[k]}" = -Onone ]; then continue; fi
      how=$({ if [ $mode = unlike ]; then unlike $seed; else wrong $seed $mode; fi } | paste -sd';')
      if [ -z "$how" ]; then continue; fi
      echo "seed $seed ${levels[k]}: $how"
      [ "$SCRIPTHOST_MUTANT" = 0 ] || return 0
    done
  done
}

for k in "${!levels[@]}"; do compile $((first + k)) "${levels[k]}"; done
failed=0 caught=0 mutants=0
printf '%-82s %s\n' MUTANT RESULT
while IFS=$'\t' read -r number what; do
  [[ -z ${MUTANTS_ONLY:-} || " $MUTANTS_ONLY " == *" $number "* ]] || continue
  # The shell's words on crashes are not wanted.
  how=$({ SCRIPTHOST_MUTANT=$number found; } 2>/dev/null)
  if [ "$number" = 0 ]; then
    result=${how:+FAILS}
  else
    mutants=$((mutants + 1))
    result=MISSED
    if [ -n "$how" ]; then result=caught caught=$((caught + 1)); fi
  fi
  printf '%-82s %s %s\n' "$what" "${result:-passes}" "$how"
  [ "${result:-passes}" = passes ] || [ "$result" = caught ] || failed=1
done < <(python3 "$here/mutants.py")
echo "$caught of $mutants mutants caught"
exit $failed
