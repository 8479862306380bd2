#!/usr/bin/env bash
# C functions that images import: hooked by their import tables, by the loader's three ways to bind them.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"

cd "$work"
cp -r "$here/Subject" .
clang=$(toolchain_bin)/clang
"$clang" -O1 -shared -fPIC -Wl,-Bsymbolic -o libsubject.so Subject/subject.c
export SUBJECT_HOME=/from/the/program
. "$here/under.sh"

for level in $levels; do
  for way in lazy now full; do
    # lazy: bound at the first call, behind a PLT; now: at load, read-only since; full: and called through the address alone.
    case $way in
    lazy) link=(-Xlinker -z -Xlinker lazy) cc=() ;;
    now) link=(-Xlinker -z -Xlinker now -Xlinker -z -Xlinker relro) cc=() ;;
    full) link=(-Xlinker -z -Xlinker now -Xlinker -z -Xlinker relro) cc=(-fno-plt) ;;
    esac
    name="$level $way" tag=$level$way
    "$clang" -O1 -fPIC "${cc[@]}" -I Subject -c "$here/total.c" -o total.o
    swiftc -swift-version 6 $level -module-name calls -I Subject "$here/calls.swift" total.o -o calls -L . -lsubject \
      -Xlinker -rpath -Xlinker '$ORIGIN' "${link[@]}"
    capture alone ./calls
    same "$name: the program itself runs" "$here/expected/calls.out" alone.out

    run observe ./calls
    unchanged "$name: what is observed goes on as it did" alone observe
    same "$name: handlers see what C functions are given and give" "$here/expected/observe" observe.said
    sed -n 's/.*"kind":"event","name":\(.*\)}$/\1/p' "observe$tag.events" | sed 's/"ns":[0-9]*/"ns":N/' >track.said
    same "$name: rules record it" "$here/expected/track" track.said

    run change ./calls
    same "$name: C functions get what handlers give, and programs what they give for them" "$here/expected/change" change.out
    check "$name: nothing of that was worth a message" bash -c '! grep -v ": loaded, [0-9]* hook" change.err'

    capture bound env LD_BIND_NOW=1 timeout 60 "$scripthost" run --state state --patches "$here/patches/change" -- ./calls
    same "$name: the same with LD_BIND_NOW" "$here/expected/change" bound.out

    capture trace timeout 60 "$scripthost" trace --state state -o trace.text -e 'C.subject_*' -e C.open -e 'C.getenv in calls' -- ./calls
    same_run "$name: a trace leaves the program as it was" alone trace
    for text in 'C.open(path: "/no/such/file", flags: 0)' '-> -1 errno 2' 'C.getenv(name: "SUBJECT_HOME")' '-> "/from/the/program"'; do
      says "$name: a trace shows $text" trace.text "$text"
    done
    check "$name: a trace shows functions without a prototype" [ "$(grep -c C.subject_ trace.text)" -ge 7 ]
  done
  run refused ./calls
  unchanged "$level: refusals leave the program as it was" alone refused
  # Which images import 'open' is the system's business, and what is bound yet the linker's.
  sed -i "s|, not called yet||; s|; 'lib.* do$|; others do|" refused.said
  same "$level: refusals say why" "$here/expected/refused" refused.said
done

# A program at a fixed address, whose own import table stands for the function's address everywhere.
"$clang" -O1 -shared -fPIC -o libcounted.so "$here/fixed/counted.c"
for cc in '' -fno-plt; do
  "$clang" -O1 -shared -fPIC $cc -Wl,-z,lazy -o libother.so "$here/fixed/other.c" -L. -lcounted
  "$clang" -O1 -fno-pic -fno-pie -c -o fixed.o "$here/fixed/fixed.c"
  for bind in lazy now; do
    name="fixed address $cc $bind"
    swiftc -swift-version 6 -O "$here/fixed/fixed.swift" fixed.o -o fixed -Xclang-linker -no-pie -L. -lcounted -lother -Xlinker -rpath \
      -Xlinker '$ORIGIN' -Xlinker -z -Xlinker $bind
    check "$name: the program has such an address" bash -c 'readelf --dyn-syms -W fixed | grep -Eq " 0*[1-9a-f][0-9a-f]* +0 FUNC .* UND counted"'
    capture alone ./fixed
    same "$name: the program itself runs" <(echo 'fixed: 10') alone.out
    run fixed ./fixed
    same "$name: it gets what the handler gives" <(echo 'fixed: 100') fixed.out
    same "$name: each call is seen once" "$here/expected/fixed" fixed.said
  done
done

# What is linked into the program is no import.
check 'a function that is linked in is not found' bash -c '! "$0" explain ./calls C.subject_total >linked.out 2>&1' "$scripthost"
says 'and the message says where it was looked for' linked.out "no selector matches 'C.subject_total' in ./calls"

# What imports of a program on disk are.
capture explain "$scripthost" explain ./calls C.getenv
says 'explain names the image' explain.out 'calls: calls of getenv@GLIBC_2.2.5'
says 'explain says what is not reached' explain.out 'calls inside the library that has the function'
capture find "$scripthost" find ./calls subject greeting
says 'find lists imports' find.out 'C.subject_greeting'
capture methods "$scripthost" methods ./calls 'C.subject_*'
check 'methods lists them' [ "$(wc -l <methods.out)" = 7 ]
finish
