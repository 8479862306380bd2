#!/usr/bin/env bash
# Tests/Programs/closures/run.sh [SEED [COUNT]]: closures both ways, in programs compiled apart from what they call.
#
# CLOSURES_COUNT types are drawn per level, CLOSURES_ROUNDS is a quarter of the calls each way of the lives test.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
seed=${1:-${CLOSURES_SEED:-$(date +%j)}}
count=${2:-${CLOSURES_COUNT:-80}}
rounds=${CLOSURES_ROUNDS:-20000}
cd "$work"
cp "$here"/*.swift .
for patch in wrap change generic lives center; do mkdir "$patch" && cp "$here/$patch.lua" "$patch"; done

# library MODULE FILE LEVEL and program NAME MODULE FILE LEVEL: nothing of a library is inlined into a program.
library() { swiftc -swift-version 6 "$3" -disable-cmo -wmo -suppress-warnings -parse-as-library -emit-module -emit-object -module-name "$1" "$2" -o "$1.o"; }
program() { swiftc -swift-version 6 "$4" -wmo -suppress-warnings -I. -module-name Main "${@:5}" "$3" "$2.o" -o "$1"; }
run() { capture_loaded "$1" timeout 180 "$scripthost" run -v --state "$work/state" --patches "${@:2}"; }

for level in -Onone -O; do
  library Subject Subject.swift "$level"
  program fixed Subject main.swift "$level"
  capture plain ./fixed
  run wrap wrap -- ./fixed
  unchanged "$level: closures that go through Lua functions do what they did" plain wrap
  sed '/it is not known which calls were inlined/d; s/^scripthost: //' wrap.err >wrap.said
  same "$level: a script sees what closures are given" "$here/expected/wrap.said" wrap.said
  run change change -- ./fixed
  same "$level: what Lua functions answer is what the program gets" "$here/expected/change.printed" change.out
  sed '/it is not known which calls were inlined/d; s/^scripthost: //' change.err >change.said
  same "$level: what cannot be is refused with its reason" "$here/expected/change.said" change.said

  library Generics Generics.swift "$level"
  program generics Generics generic.swift "$level"
  run generic generic -- ./generics
  same "$level: closures of generic functions and types do what they did, and what Lua functions answer" "$here/expected/generic.printed" generic.out
  sed '/it is not known which calls were inlined/d; s/^scripthost: //' generic.err >generic.said
  same "$level: they are called with generic arguments by address, others not" "$here/expected/generic.said" generic.said

  echo "seed $seed, $count types, $level"
  mkdir -p random && python3 "$here/generate.py" "$seed" "$count" random
  mv random/patch "random/patch$level"
  library Random random/Random.swift "$level"
  program drawn Random random/random.swift "$level"
  capture plain ./drawn
  run drawn "random/patch$level" -- ./drawn
  unchanged "$level: drawn types pass through in both forms" plain drawn
  sed -n 's/^scripthost: [^ ]*: \(.* <- .*\)$/\1/p' drawn.err | sed 's/ *$//' >drawn.got
  # A natural form that is refused is said; nothing else may be missing.
  refused=$(grep -c 'can be made: it returns a tuple of more than four words' drawn.err || true)
  grep "can be made" drawn.err | sed -n "s/.*'Random.\([a-z]*[0-9]*\)(.*/\1 <- /p" >drawn.refused || true
  sed 's/ *$//' random/expected | { grep -vF -f drawn.refused || true; } >drawn.expected
  [ -s drawn.refused ] || sed 's/ *$//' random/expected >drawn.expected
  same "$level: drawn types are decoded in both forms ($refused refused of $((3 * count)))" drawn.expected drawn.got
done

library Lives Lives.swift -O
program living Lives LivesMain.swift -O -parse-as-library
capture lives.plain ./living "$rounds"
run lives.run lives -- ./living "$rounds"
ended 'the program with kept closures ends well' lives.run
says 'a closure ran on other threads, four at once, and no call was lost' lives.run.err "handler ran	$((rounds / 4 * 4 + 1))"
says 'a comparator was replaced' lives.run.out 'sorted ["pear", "fig", "apple"]'
says 'closures of both sides end and memory stays flat' lives.run.out 'alive true grown true'
check 'no closure failed' bash -c '! grep -q "runs instead" lives.run.err'
tail -n 1 lives.run.err

mkdir notes && cp Center.swift notes/main.swift
swiftc -swift-version 6 -suppress-warnings notes/main.swift -o observer
capture center.plain ./observer
run center.run center -- ./observer
unchanged 'completion handlers of Foundation run as before' center.plain center.run
for label in $'using\t1' $'1\t0' $'block\t0' $'block\t1' $'completionHandler\t3'; do
  says "a script stands before Foundation's handlers: $label" center.run.err "center.lua:6: $label"
done
finish
