#!/usr/bin/env bash
# C functions that images import: hooked by their import tables, by the loader's three ways to bind them.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"

cd "$work"
cp -r "$here/Subject" .
clang=$(toolchain_bin)/clang
"$clang" -O1 -shared -fPIC -Wl,-Bsymbolic -o libsubject.so Subject/subject.c
export SUBJECT_HOME=/from/the/program

# run NAME COMMAND…: under the patch of that name; NAME.said is what its handlers printed.
run() {
  capture "$1" timeout 60 "$scripthost" run -v --state state --events "$1$level$way.events" --patches "$here/patches/$1" -- "${@:2}"
  sed -n 's/^scripthost: patch.lua:[0-9]*: //p' "$1.err" >"$1.said"
}

for level in -Onone -O -Osize; do
  for way in lazy now full; do
    # lazy: bound at the first call, behind a PLT; now: at load, read-only since; full: and called through the address alone.
    case $way in
    lazy) link=(-Xlinker -z -Xlinker lazy) cc=() ;;
    now) link=(-Xlinker -z -Xlinker now -Xlinker -z -Xlinker relro) cc=() ;;
    full) link=(-Xlinker -z -Xlinker now -Xlinker -z -Xlinker relro) cc=(-fno-plt) ;;
    esac
    name="$level $way"
    "$clang" -O1 -fPIC "${cc[@]}" -I Subject -c "$here/total.c" -o total.o
    swiftc -swift-version 6 $level -module-name calls -I Subject "$here/calls.swift" total.o -o calls -L . -lsubject \
      -Xlinker -rpath -Xlinker '$ORIGIN' "${link[@]}"
    capture alone ./calls
    same "$name: the program itself runs" "$here/expected/calls.out" alone.out

    run observe ./calls
    unchanged "$name: what is observed goes on as it did" alone observe
    same "$name: handlers see what C functions are given and give" "$here/expected/observe" observe.said
    sed -n 's/.*"kind":"event","name":\(.*\)}$/\1/p' "observe$level$way.events" | sed 's/"ns":[0-9]*/"ns":N/' >track.said
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

# As a library: words, images, threads, forks.
mkdir -p cases/sub
"$clang" -O1 -shared -fPIC -o cases/sub/libsub.so -x c - <<<'int sub_five(void) { return 5; }'
for name in cases1 cases2 cases3 watch1 late1 late2 pin wish1 wish2 inner; do
  "$clang" -O1 -shared -fPIC -Wl,-soname,lib$name.so -Wl,-rpath,'$ORIGIN/sub' -Wl,--enable-new-dtags -o cases/lib$name.so "$here/cases.c"
done
"$clang" -O1 -shared -fPIC -Wl,-rpath,'$ORIGIN' -o cases/libouter.so "$here/outer.c"
for level in debug release; do
  swift build --package-path "$root" -c "$level" --product import-cases >&2
  capture cases timeout 300 "$root/.build/$level/import-cases" "$work/cases"
  sed -n "s/^ok      /ok      $level: /p" cases.out
  checks=$((checks + $(grep -c '^ok ' cases.out)))
  check "$level: all cases hold" grep -qx 0 cases.status
  grep -v '^ok ' cases.out | sed 's/^/        /' || true
done

# Libraries that appear while the program runs.
for level in -Onone -O; do
  swiftc -swift-version 6 $level -parse-as-library -emit-library -emit-module -module-name Base "$here/late/Base.swift" -o libBase.so
  swiftc -swift-version 6 $level -parse-as-library -emit-library -module-name Plugin -I . -L . -lBase "$here/late/Plugin.swift" -o libPlugin.so
  "$clang" -O1 -shared -fPIC -o libcplugin.so "$here/late/cplugin.c"
  for number in $(seq 0 15); do cp libcplugin.so "libcplugin$number.so"; done
  swiftc -swift-version 6 $level -module-name host -I . -L . -lBase "$here/late/host.swift" -o host
  export LD_LIBRARY_PATH=$work
  capture late.alone ./host
  run late ./host
  same "$level: what libraries bring is hooked before it is used" "$here/expected/late.out" late.out
  same "$level: handlers see it" "$here/expected/late$level" late.said
  sed -n 's/.*"kind":"event","name":\(.*\)}$/\1/p' "late$level$way.events" >track.said
  same "$level: rules record it" <(echo '"louder","fields":{"step":4}') track.said
  for round in 1 2 3; do
    capture crowd timeout 60 "$scripthost" run --state state --patches "$here/patches/late" -- ./host 16
    same "$level: sixteen threads open a library each, round $round" <(echo 'host: answers 10: 16') crowd.out
  done
  run never ./host
  unchanged "$level: what is waited for in vain changes nothing" late.alone never
  same "$level: mistakes are told at once" "$here/expected/never" never.said
  for text in "'Nowhere.at()' was waited for and never appeared" "'Plugin.Formal.greets(_:)' was waited for and never appeared"; do
    says "$level: at exit it is told that $text" never.err "$text"
  done
  unset LD_LIBRARY_PATH
done

# A request by URLSession: its name is looked up and its server connected to in libcurl, which is a C library of the system's.
sed 's/127.0.0.1/0.0.0.0/' "$here/../network/server.py" >server.py
python3 -u server.py >port &
server=$!
trap 'kill $server; chmod -R u+rwx "$work"; rm -rf "$work"' EXIT
until [ -s port ]; do sleep 0.1; done
# Not 'localhost', which libcurl knows without asking.
host=$(hostname)
"$clang" -shared -fPIC -O1 -o libtiming.so "$here/request/timing.c"
for level in -Onone -O; do
  swiftc -swift-version 6 $level "$here/request/client.swift" -o client
  capture alone ./client "http://$host:$(cat port)/greeting.txt"
  same "$level: the program itself runs" <(echo 'answer: 200 hello from the server') alone.out
  export LD_PRELOAD=$work/libtiming.so
  run request ./client "http://$host:$(cat port)/greeting.txt"
  unset LD_PRELOAD
  unchanged "$level: a request that is timed goes on as it did" alone request
  # Both time the same calls: ours around theirs, so by a little more.
  timed=$(awk '$1 == "getaddrinfo" { print $4 }' request.said) known=$(awk '$2 == "getaddrinfo" { print $5 }' request.err)
  check "$level: the name's lookup is timed ($timed ns, measured otherwise $known ns)" [ "$timed" -ge "$known" -a "$timed" -lt $((known + 20000000)) ]
  timed=$(awk '$1 == "connect" { print $4 }' request.said) known=$(awk '$2 == "connect" { print $5 }' request.err | head -n 1)
  check "$level: connecting is timed ($timed ns, measured otherwise $known ns)" [ "$timed" -ge "$known" -a "$timed" -lt $((known + 20000000)) ]
  check "$level: it had to wait, and errno says so" [ "$(awk '$1 == "connect" { print $2, $3 }' request.said)" = '-1 115' ]
  says "$level: a rule records the lookup" "request$level$way.events" "\"host\":\"$host\""
done

# What imports of a program on disk are.
capture explain "$scripthost" explain ./calls C.getenv
says 'explain names the image' explain.out 'calls: calls of getenv@GLIBC_2.2.5'
says 'explain says what is not reached' explain.out 'calls inside the library that has the function'
capture find "$scripthost" find ./calls subject greeting
says 'find lists imports' find.out 'C.subject_greeting'
capture methods "$scripthost" methods ./calls 'C.subject_*'
check 'methods lists them' [ "$(wc -l <methods.out)" = 7 ]
finish
