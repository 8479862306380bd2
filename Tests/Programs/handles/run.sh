#!/usr/bin/env bash
# run.sh: values of every kind through handles: read, made, kept, thrown; how long they live; what they leave behind.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"

here=$root/Tests/Programs/handles
rounds=${HANDLES_ROUNDS:-300}
# "-sanitize=address" with products that were built so: scripts/test-sanitized.
flags=${HANDLES_FLAGS:-}
[ -z "$flags" ] || export "${asan[@]}"
cd "$work"
for level in -Onone -O; do
  # Callers are a module of their own, so that no call is inlined or specialised.
  compile=(swiftc -swift-version 6 "$level" $flags -wmo -parse-as-library -I. -suppress-warnings)
  "${compile[@]}" -emit-module -emit-object -module-name Shop "$here/Shop.swift" -o Shop.o
  "${compile[@]}" -module-name Main "$here/main.swift" Shop.o -o shop
  ./shop >plain.out

  for mode in read write; do
    capture $mode timeout 60 "$scripthost" run -v --state state --patches "$here/$mode" -- ./shop
    check "$level $mode: no assertion fails" bash -c "! grep -e FAIL -e 'runs instead' $mode.err"
    check "$level $mode: it came to its end" grep -q ': checks [1-9]' $mode.err
    checks=$((checks + $(sed -n 's/.*: checks //p' $mode.err | tail -n 1)))
  done
  same "$level reading changes nothing" plain.out read.out
  same "$level what was made in scripts arrives" "$here/write.expected" write.out

  ./shop $rounds >plain.out 2>/dev/null
  capture soak timeout 300 "$scripthost" run -v --state state --patches "$here/soak" -- ./shop $rounds
  # Without a none in Any, whose type a table cannot keep; what is kept by handles that were not collected yet lives on.
  sed -i 's/,none=Optional<Int> nil//; /^live /d' plain.out
  live=$(sed -n 's/^live //p' soak.out) && sed -i '/^live /d' soak.out
  same "$level $rounds rounds of changed values" plain.out soak.out
  check "$level handles that are collected let go ($live alive)" [ "$live" -lt 100 ]
  check "$level no handler fails" bash -c "! grep 'runs instead' soak.err"
  grown=$(sed -n 's/^grown //p' soak.err)
  echo "$level $rounds rounds, $grown KB grown"
  # The sanitizer keeps what is freed.
  [ -n "$flags" ] || check "$level memory stays flat" [ "$grown" -lt 2048 ]
done

# Float80 comes back on the x87 stack. What has no name in Swift is refused with its reason.
for level in -Onone -O; do
  compile=(swiftc -swift-version 5 "$level" $flags -wmo -I. -suppress-warnings)
  "${compile[@]}" -parse-as-library -emit-module -emit-object -module-name Extended "$here/Extended.swift" -o Extended.o
  "${compile[@]}" -module-name Main "$here/extended.swift" Extended.o -o extended
  ./extended >plain.out
  for mode in read write; do capture $mode timeout 60 "$scripthost" run -v --state state --patches "$here/extended/$mode.lua" -- ./extended; done
  check "$level extended: no assertion fails" bash -c "! grep -e FAIL -e 'runs instead' -e 'result stands' read.err write.err"
  check "$level extended: it came to its end" grep -q ': checks 17' read.err
  same "$level reading what is on the x87 stack changes nothing" plain.out read.out
  same "$level what scripts put there arrives" "$here/extended/write.expected" write.out
done

# Numbers, Bools and short texts are changed as bits, beside others; what a failing handler changed is gone.
for level in -Onone -O; do
  compile=(swiftc -swift-version 6 "$level" $flags -wmo -I. -suppress-warnings)
  "${compile[@]}" -parse-as-library -emit-module -emit-object -module-name Changes "$here/Changes.swift" -o Changes.o
  "${compile[@]}" -module-name Main "$here/changes.swift" Changes.o -o changes
  capture changes timeout 60 "$scripthost" run -v --state state --patches "$here/changes" -- ./changes
  same "$level changes of every kind arrive, or are undone" "$here/changes.expected" changes.out
  sed -n 's/^scripthost: changes\.lua:[0-9]*: //p' changes.err >changes.messages
  same "$level handlers see what they changed, and why not" "$here/changes.messages" changes.messages
done

# Data is known by what it conforms to: Foundation is not linked into the host.
swiftc -swift-version 6 -Onone -parse-as-library -module-name Files "$here/Data.swift" -o files
capture data timeout 60 "$scripthost" run -v --state state --patches "$here/data" -- ./files
check 'Data: no assertion fails' bash -c "! grep -e FAIL -e 'runs instead' data.err"
check 'Data: it came to its end' grep -q ': checks [1-9]' data.err
same 'Data crosses both ways' - data.out <<'END'
take [0, 255, 97, 98, 99] E621E1F8-C36C-495A-93FC-0C247A3E6E5F 5.0
[1, 2, 255]
take [7, 8] E621E1F8-C36C-495A-93FC-0C247A3E6E5F 6.0
4000
2
END
finish
