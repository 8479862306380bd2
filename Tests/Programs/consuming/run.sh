#!/usr/bin/env bash
# Tests/Programs/consuming/run.sh [SEED]: methods of classes that use up their self, which no name tells.
#
# The code's verdict is never wrong, of classes, structs and enums, and handlers that run such originals twice, once or never leave the program
# with the results and the number of living objects that it has alone.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
seed=${1:-${SCRIPTHOST_SEED:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}}
printf 'seed %s (SCRIPTHOST_SEED)\n' "$seed"
export SWIFT_BACKTRACE=enable=no
cd "$work"
python3 -B "$here/generate.py" "$seed" "${CONSUMING_COUNT:-60}" Things.swift Main.swift
# CONSUMING_LEVELS: what the drawn methods are compiled with; those below, which are not drawn, are compiled with all three.
for level in ${CONSUMING_LEVELS:--Onone -O -Osize}; do
  compile=(swiftc -swift-version 6 "$level" -suppress-warnings -parse-as-library)
  "${compile[@]}" -emit-library -emit-module -module-name Things -o libThings.so Things.swift
  "${compile[@]}" -module-name Main -I. -L. -lThings -Xlinker -rpath -Xlinker '$ORIGIN' Main.swift -o main
  "$products/call-plans" --evidence ./libThings.so >plans
  if python3 -B "$here/verdicts.py" plans unknown >verdicts; then good "$level: $(tail -n 1 verdicts)"; else bad "$level: verdicts" "$(cat verdicts)"; fi
  capture plain timeout 60 ./main
  check "$level: the program alone leaves nothing alive" bash -c "! grep -q alive plain.out && grep -q 'the end' plain.out"
  # The struct's methods on copies: what ends them ends them once, and what does not leaves that to the call.
  mkdir -p "calls$level"
  sed -e '/^-- names$/{r told' -e 'd;}' "$here/calls.lua" >"calls$level/calls.lua"
  capture called timeout 60 "$scripthost" run -v --state state --patches "calls$level/calls.lua" -- ./main
  check "$level calls: the program comes to its end" grep -qx 'the end' called.out
  check "$level calls: no copy of a struct stays or ends twice" grep -qx 'boxes left: 0' called.out
  check "$level calls: no handler fails" bash -c "! grep 'runs instead' called.err"
  check "$level calls: all that are told were made" [ "$(grep -c 'info: called' called.err)" -eq "$(wc -l <told)" ]
  for mode in once twice never; do
    capture hooked timeout 120 "$scripthost" run -v --state state --patches "$here/$mode" -- ./main
    check "$level $mode: the program comes to its end" grep -qx 'the end' hooked.out
    # What may have been used up, and was not, is not let go for it.
    sed -n 's/ leaves .* alive$//p' hooked.out | LC_ALL=C sort -u >alive
    [ "$mode" = never ] || : >unknown.of
    [ "$mode" != never ] || LC_ALL=C sort unknown >unknown.of
    check "$level $mode: all objects end, once" bash -c '[ -z "$(LC_ALL=C comm -23 alive unknown.of)" ]'
    [ "$mode" != once ] || same "$level once: the results are the same" plain.out hooked.out
    # Objects that were used up twice, with a reference for each time.
    [ "$mode" != twice ] || check "$level twice: it is tried" grep -q 'info: ran used' hooked.err
    check "$level $mode: no handler fails" bash -c "! grep -e failed: -e ' failed' hooked.err"
  done
  # Getters run twice, or are refused that, and self is looked at when it may be gone.
  capture getters timeout 120 "$scripthost" run -v --state state --patches "$here/getters" -- ./main
  check "$level getters: the program comes to its end" grep -qx 'the end' getters.out
  same "$level getters: the results are the same, and all objects end, once" plain.out getters.out
  for kind in A U Y Z L R; do
    check "$level getters: $kind's run twice" grep -q "info: ran kept$kind" getters.err
    check "$level getters: $kind's self is left by the others" bash -c "! grep 'info: gone kept$kind' getters.err"
  done
  check "$level getters: a consumed self is told" grep -q 'info: gone used' getters.err
  check "$level getters: nothing else fails" bash -c "! grep -e 'runs instead' -e 'failed:' getters.err"
done

# All that ends self, and nothing else: unowned references, others' words.
for level in $levels; do
  compile=(swiftc -swift-version 6 "$level" -suppress-warnings -parse-as-library)
  "${compile[@]}" -emit-library -emit-module -module-name Ends -o libEnds.so "$here/ends/Ends.swift"
  "${compile[@]}" -I. -L. -lEnds -Xlinker -rpath -Xlinker '$ORIGIN' -module-name main "$here/ends/main.swift" -o ends
  "$products/call-plans" --self ./libEnds.so | cut -f 3,5 >ends.told
  check "$level ends: all methods are judged" [ "$(grep -c 'Ends\..*\.\(used\|kept\)(' ends.told)" -eq 22 ]
  check "$level ends: what is used up is not kept, and what is kept not used up" bash -c "! grep -e '^kept.*used(' -e '^consumed.*kept(' ends.told"
  "$products/call-plans" --evidence ./libEnds.so | cut -f 1,4 >ends.getters
  check "$level ends: a getter that gives up its self is told" [ "$(grep 'value:!.*' ends.getters | grep -c 'vg	')$(grep -c 'DrawerV5takenAA5ThingCvg	value:!' ends.getters)" = 11 ]
  check "$level ends: what ends nothing is told" grep -q '^kept.*Ends.Behind.kept()' ends.told
  # Whoever calls what is not told leaves a copy, perhaps: refused, unless the script accepts that.
  capture refused timeout 60 "$scripthost" run -v --state state --patches "$here/ends/refused.lua" -- ./ends
  check "$level refused: every way to call" [ "$(grep -c 'info: refused' refused.err)" -eq 17 ]
  check "$level refused: nothing else goes wrong" bash -c "! grep -e 'NOT REFUSED' -e 'runs instead' -e 'left behind' refused.err"
  check "$level refused: what is told is called, with a weak reference, too" [ "$(grep -c 'info: told 29 29' refused.err)" -eq 4 ]
  says "$level refused: nothing is left" refused.out 'things alive: 1'
  says "$level explain: kept" refused.err 'Watching.kept()kept, so that a call by name ends the copy that it is made on'
  says "$level explain: not told" refused.err 'Alone.kept()its code does not tell whether it is consumed; a script'"'"'s call needs swift.allow_leak("Ends.Alone.kept()")'
  says "$level explain: async" refused.err 'Alone.later(_:)its code does not tell'
  capture left timeout 60 "$scripthost" run -v --state state --patches "$here/ends/left.lua" -- ./ends
  check "$level left: what the script accepts is called" [ "$(grep -c 'info: ran 4 1' left.err)" -eq 4 ]
  says "$level left: async, too" left.err 'info: waited 5'
  says "$level left: the calls are counted, and told at the end" left.err "left: 8 calls of 'Ends.Alone.kept()' may each have left a copy of the value behind"
  says "$level left: also those that were waited for" left.err "left: 1 call of 'Ends.Alone.later(_:)' may"
  says "$level left: a name that is none is an error" left.err "near miss: no selector 'kep()' in Ends.Alone; did you mean 'kept()'?"
  check "$level left: the program comes to its end" grep -q 'things alive' left.out
done

# What is told of the toolchain's own libraries is what they declare: by their interfaces, and by their code alone.
libraries=$(dirname "$(toolchain_bin)")/lib/swift/linux
for module in ${CONSUMING_LIBRARIES:-Swift _Concurrency Foundation FoundationEssentials}; do
  case $module in Swift) library=libswiftCore ;; _Concurrency) library=libswift_Concurrency ;; *) library=lib$module ;; esac
  swift-api-digester -dump-sdk -module "$module" -target x86_64-unknown-linux-gnu -I "$libraries" -avoid-location -o declared.json 2>digester.err || :
  for way in ${CONSUMING_WAYS:---self --code-alone}; do
    "$products/call-plans" --self "$way" "$libraries/$library.so" >told.toolchain
    if python3 -B "$here/share.py" declared.json <told.toolchain >share; then good "$module, $way: $(tail -n 1 share)"; else bad "$module, $way" "$(cat share digester.err)"; fi
  done
done
finish
