#!/usr/bin/env bash
# Values of every kind through handles: read, made, kept, thrown; how long they live; what they leave behind.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"

here=$root/Tests/Programs/handles
rounds=${HANDLES_ROUNDS:-1500}
cd "$work"
for level in -Onone -O; do
  # Callers are a module of their own, so that no call is inlined or specialised.
  compile=(swiftc -swift-version 6 "$level" -wmo -parse-as-library -I. -suppress-warnings)
  "${compile[@]}" -emit-module -emit-object -module-name Shop "$here/Shop.swift" -o Shop.o
  "${compile[@]}" -module-name Main "$here/main.swift" Shop.o -o shop
  ./shop >plain.out

  for mode in read write; do
    capture $mode timeout 60 "$scripthost" run -v --state state --patches "$here/$mode" -- ./shop
    check "$level $mode: no assertion fails" bash -c "! grep -e FAIL -e 'runs instead' $mode.err"
    check "$level $mode: it came to its end" grep -q ': checks [1-9]' $mode.err
    note_checks "$(sed -n 's/.*: checks //p' $mode.err | tail -n 1)"
  done
  same "$level reading changes nothing" plain.out read.out
  same "$level what was made in scripts arrives" "$here/write.expected" write.out

  ./shop $rounds >plain.out 2>/dev/null
  capture soak timeout 300 "$scripthost" run -v --state state --patches "$here/soak" -- ./shop $rounds
  same "$level $rounds rounds of changed values" plain.out soak.out
  check "$level no handler fails" bash -c "! grep 'runs instead' soak.err"
  grown=$(sed -n 's/^grown //p' soak.err)
  echo "$level $rounds rounds, $grown KB grown"
  check "$level memory stays flat" [ "$grown" -lt 2048 ]
done
finish
