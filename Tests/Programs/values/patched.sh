# Sourced by run.sh and mutants.sh.

# patched NAME PROGRAM PATCHES SECONDS: runs PROGRAM with patches; leaves NAME.out, what it printed, and NAME.err, and answers its
# exit status. On a busy machine the host stops what takes longer than it may, which shows nothing: then again, at most 9 times.
patched() {
  local status again=0
  while :; do
    status=0
    timeout -k 5 "$4" "$products/scripthost" run -v --state state --patches "$3" -- "./$2" values.bin "$1.out" >/dev/null 2>"$1.err" || status=$?
    sed -i "/$not_proven/d" "$1.err"
    if [ "$again" -eq 9 ] || ! grep -qa 'stopped: ran longer than' "$1.err"; then return "$status"; fi
    again=$((again + 1))
    sleep "$again"
  done
}

swift=(swiftc -swift-version 5 -wmo -I. -suppress-warnings -parse-as-library)

# isolation SEED: of every other seed, the language's upcoming rule by which async functions run where their callers do.
isolation() { [ $(($1 / 4 % 2)) -eq 0 ] || printf '%s\n' -enable-upcoming-feature NonisolatedNonsendingByDefault; }

# across SEED LEVEL: whether modules know what is in each other, as packages' do where they are optimised: of half of the seeds with
# VALUES_CMO=half, as soak.sh has it, of all with VALUES_CMO=1.
across() {
  local is_across=${VALUES_CMO:-0}
  [ "$is_across" != half ] || is_across=$(($1 / 2 % 2))
  if [ "$2" != -Onone ] && [ "$is_across" = 1 ]; then echo -enable-default-cmo; else echo -disable-cmo; fi
}

# resilient SEED: whether the modules of types and functions are built for library evolution, so that nobody else knows how large their types are:
# one of eight seeds, all with VALUES_EVOLUTION=1.
resilient() {
  local is_resilient=${VALUES_EVOLUTION:-some}
  [ "$is_resilient" != some ] || is_resilient=$(($1 % 8 == 5))
  [ "$is_resilient" = 0 ] || echo -enable-library-evolution
}

# compile_module LEVEL MODULE FILE [FLAG…]: a module, its code before LLVM's passes, and the object that these make of it: the same code
# as when it is made at once.
compile_module() {
  "${swift[@]}" "$1" "${@:4}" -emit-module -emit-irgen -module-name "$2" "$3" -o "$2.ll"
  swiftc -frontend -c "$1" -module-name "$2" "$2.ll" -o "$2.o"
}
