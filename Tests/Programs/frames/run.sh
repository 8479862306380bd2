#!/usr/bin/env bash
# run.sh: what the optimiser puts into frames can be used in its call, and outlives it only where it can be copied.
# FRAMES_FLAGS: flags of the program, as in program-unchanged/run.sh.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
flags=${FRAMES_FLAGS:-}
[ -z "$flags" ] || export "${asan[@]}"
export SWIFT_BACKTRACE=enable=no
cd "$work"
for level in -Onone -O; do
  # Callers are a module of their own, so that no body is made for them alone; what escapes from a function they know.
  compile=(swiftc -swift-version 6 "$level" $flags -wmo -parse-as-library -suppress-warnings -I.)
  "${compile[@]}" -emit-module -emit-object -module-name Frames "$here/Frames.swift" -o Frames.o
  "${compile[@]}" -module-name Main "$here/main.swift" Frames.o -o frames
  capture plain timeout 60 ./frames
  capture hooked timeout 120 "$scripthost" run -v --state state --patches "$here/patch" -- ./frames
  ended "$level the program comes to its end" hooked
  check "$level no assertion fails" bash -c "! grep -e FAIL -e 'runs instead' hooked.err"
  check "$level all were made" grep -q '@ checks' hooked.err
  capture join timeout 60 "$scripthost" run --state state --patches "$here/join" -- ./frames
  grep -c 'kept a Frames.Node that lies in the frame' join.err >join.count || true
  check "$level what keeps an object of a frame is told" test "$(cat join.count)" = $([ "$level" = -O ] && echo 2 || echo 0)
  sed -n 's/.*@ \(refused\|worked\)/\1/p' hooked.err >"level$level"
  same "$level the results are the same" plain.out hooked.out
done
# Where nothing is refused at -O, nothing lay in a frame, and the test tests nothing.
same '-Onone: all works' "$here/Onone.expected" level-Onone
same '-O: what is refused, and what works' "$here/O.expected" level-O

# Objects that are ended without a look at who refers to them. What is freed reads as nothing that can be an object.
for level in -Onone -O; do
  swiftc -swift-version 5 "$level" $flags -suppress-warnings -module-name Ended "$here/Ended.swift" -o ended
  capture plain timeout 60 ./ended
  MALLOC_PERTURB_=165 capture hooked timeout 120 "$scripthost" run -v --state state --patches "$here/ended" -- ./ended
  unchanged "$level objects that code ends unseen: the program does as ever" plain hooked
  check "$level what is kept of them stays as it was, or says that it has ended" bash -c "! grep -a -e FAIL -e 'runs instead' -e stopped hooked.err"
  # At -O the others are ended, or could not be kept.
  if [ "$level" = -O ]; then check "$level the program keeps one of them" grep -qE '@ 3 live, [0-9]+ ended' hooked.err
  else says "$level all live that are kept" hooked.err '@ 12 live, 0 ended'; fi
done
finish
