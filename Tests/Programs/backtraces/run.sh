#!/usr/bin/env bash
# Stacks taken inside hooked calls show the program's frames: by glibc's unwinder, by gdb, by Swift's backtracer, and from a
# signal handler at any moment.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
export SWIFT_BACKTRACE=enable=no

cd "$work"
cp -r "$here/Marks" .
clang=$(toolchain_bin)/clang
"$clang" -O1 -g -fno-omit-frame-pointer -shared -fPIC -o libmarks.so Marks/marks.c
# names FILE: its stacks, with readable names.
names() { swift demangle -simplified <"$1"; }

# What gdb finds in the libraries it keeps for the runs that follow.
index=(-iex "set index-cache directory $work/index" -iex 'set index-cache enabled on')

for level in -Onone -O; do
  # Whole-module optimisation makes private what nobody outside may call; the stack's functions are public.
  swiftc -swift-version 6 $level -g -suppress-warnings -module-name traced -I Marks "$here/traced.swift" -o traced -L . -lmarks \
    -Xlinker -rpath -Xlinker '$ORIGIN' -Xlinker --export-dynamic
  capture alone ./traced
  names alone.out >alone.names
  check "$level: stacks lead to the beginning of the program" grep -qE '^stack: .*inner.*middle.*outer.* main _start$' alone.names
  for patch in around slot; do
    host=("$scripthost" run --state state --patches "$here/patches/$patch" --)
    capture stack timeout 60 "${host[@]}" ./traced
    names stack.out >stack.names
    same "$level $patch: glibc finds the same frames inside hooked calls" alone.names stack.names
    check "$level $patch: nothing was said" test ! -s stack.err

    timeout -k 5 120 gdb -q -batch -nx "${index[@]}" -ex 'set debuginfod enabled off' -ex 'set breakpoint pending on' -ex 'break mark_plainly' -ex run -ex bt \
      --args "${host[@]}" ./traced >gdb.out 2>&1 || true
    grep '^#' gdb.out | sed -nE 's/.*(mark_plainly|[$]s6traced5inner|[$]s6traced6middle|[$]s6traced5outer| in main ).*/\1/p' | sed 's/.*traced[0-9]//; s/ in //; s/ //' >gdb.names
    printf '%s\n' mark_plainly inner middle outer main >gdb.expected
    same "$level $patch: gdb finds them" gdb.expected gdb.names

    # It follows frame pointers, which a release build by swiftc alone does not have.
    if [ $level = -Onone ]; then
      capture crash env SWIFT_BACKTRACE=enable=yes,color=no,interactive=no,threads=crashed,limit=none timeout 120 "${host[@]}" ./traced crash
      sed -nE 's/.* (inner|middle|outer|main)(\(.*\))? .* in traced.*/\1/p' crash.err >crash.names
      printf '%s\n' inner middle outer main >crash.expected
      same "$level $patch: Swift's backtracer finds them" crash.expected crash.names
      check "$level $patch: and the names of functions in libraries" \
        bash -c 'grep -q " crash + .* in libmarks.so" crash.err && grep -q " swift_job_run + .* in libswift_Concurrency.so" crash.err'
    fi

    capture profile timeout 120 "${host[@]}" ./traced "${BACKTRACES_SAMPLES:-1000}" profile
    read -r _ all _ whole _ inside _ lost <<<"$(grep ^samples profile.out)"
    # A stub and a moved first instruction have no unwind information: a stack taken there, for a nanosecond of each call, ends there.
    check "$level $patch: $whole of $all stacks of a profile are whole, $inside inside hooks, $lost end in Swift's runtime" \
      [ "${all:-0}" -ge 50 -a "${inside:-0}" -ge 10 -a $((100 * (whole + lost))) -ge $((98 * all)) ]
  done
done
finish
