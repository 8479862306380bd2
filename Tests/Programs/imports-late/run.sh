#!/usr/bin/env bash
# C functions hooked by import tables where images come and go: as a library, in libraries that are opened while the program runs,
# in a request by URLSession. The subjects are those of Tests/Programs/imports.
#
# IMPORTS_ONCE: with it, hooks come and go by the ten thousand, and while four threads call, in -O alone.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
here=$(cd "$here/../imports" && pwd -P)

cd "$work"
clang=$(toolchain_bin)/clang
export SUBJECT_HOME=/from/the/program
. "$here/under.sh"

# As a library: words, images, threads, forks.
mkdir -p cases/sub
"$clang" -O1 -shared -fPIC -o cases/sub/libsub.so -x c - <<<'int sub_five(void) { return 5; }'
for name in cases1 cases2 cases3 watch1 late1 late2 later pin wish1 wish2 inner; do
  "$clang" -O1 -shared -fPIC -Wl,-soname,lib$name.so -Wl,-rpath,'$ORIGIN/sub' -Wl,--enable-new-dtags -o cases/lib$name.so "$here/cases.c"
done
"$clang" -O1 -shared -fPIC -Wl,-rpath,'$ORIGIN' -o cases/libouter.so "$here/outer.c"
names=()
for level in release debug; do
  [ $level = debug ] && optimise=-Onone || optimise=-O
  swiftc -swift-version 6 $optimise -parse-as-library -emit-library -emit-module -module-name Base "$here/late/Base.swift" -o cases/libBase.so
  swiftc -swift-version 6 $optimise -parse-as-library -emit-library -module-name Plugin -I cases -L cases -lBase -Xlinker -rpath \
    -Xlinker '$ORIGIN' "$here/late/Plugin.swift" -o cases/libPlugin.so
  program=$(built_product $level import-cases)
  capture cases timeout 300 "$program" "$work/cases" "${names[@]}"
  sed -n "s/^ok      /ok      $level: /p" cases.out
  checks=$((checks + $(grep -c '^ok ' cases.out)))
  check "$level: all cases hold" grep -qx 0 cases.status
  grep -v '^ok ' cases.out | sed 's/^/        /' || true
  [ -z "${IMPORTS_ONCE:-}" ] || mapfile -t names < <(sed -n 's/^ok  *//p' cases.out | grep -v '^ten thousand hooks\|^four threads call')
done

# Libraries that appear while the program runs.
for level in -Onone -O; do
  tag=$level
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
  sed -n 's/.*"kind":"event","name":\(.*\)}$/\1/p' "late$tag.events" >track.said
  same "$level: rules record it" <(echo '"louder","fields":{"step":4}') track.said
  for round in 1 2 3; do
    capture crowd timeout 60 "$scripthost" run --state state --patches "$here/patches/late" -- ./host 16
    same "$level: sixteen threads open a library each, round $round" <(echo 'host: answers 10: 16') crowd.out
  done
  run never ./host
  unchanged "$level: what is waited for in vain changes nothing" late.alone never
  same "$level: mistakes are told at once" "$here/expected/never" never.said
  grep 'waited for and never appeared' never.err >never.absent
  for name in 'Nowhere.at()' 'Plugin.Formal.greets(_:)'; do
    says "$level: at exit it is told that '$name' never appeared" never.absent "'$name'"
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
  tag=$level
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
  says "$level: a rule records the lookup" "request$tag.events" "\"host\":\"$host\""
done
finish
