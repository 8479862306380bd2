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
for level in -Onone -O -Osize; do
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
done

# The end of an unowned reference is no retain and no release, and still an end.
cat >Unowned.swift <<'SWIFT'
public final class Thing { public var number = 1; public init() {} }
public var sink = 0
public struct Alone {
  var n: Int
  unowned let thing: Thing
  public init(_ thing: Thing) { (n, self.thing) = (1, thing) }
  @inline(never) public __consuming func used() -> Int { sink &+= n; return n &+ thing.number }
  @inline(never) public func kept() -> Int { sink &+= n; return n &+ thing.number }
}
public struct Beside {
  var n: Int
  var other: Thing?
  unowned let thing: Thing
  public init(_ thing: Thing) { (n, other, self.thing) = (1, nil, thing) }
  @inline(never) public __consuming func used() -> Int { sink &+= n; return n &+ thing.number }
  @inline(never) public func kept() -> Int { sink &+= n; return n &+ thing.number }
}
SWIFT
for level in -Onone -O -Osize; do
  swiftc -swift-version 5 "$level" -suppress-warnings -emit-library -module-name Unowned -o libUnowned.so Unowned.swift
  "$products/call-plans" --self ./libUnowned.so | cut -f 3,5 >unowned
  check "$level unowned: both methods of both structs are judged" [ "$(grep -c -e 'used()' -e 'kept()' unowned)" -eq 4 ]
  check "$level unowned: what is used up is not kept" bash -c "! grep -e '^kept.*used()' -e '^consumed.*kept()' unowned"
done

# What is not told is told of.
cat >caller.swift <<'SWIFT'
import Unowned
var held: [Any] = []
@inline(never) func offer(_ it: Alone) { held.append(it) }
let thing = Thing()
for _ in 0..<3 { offer(Alone(thing)) }
SWIFT
swiftc -swift-version 5 -O -suppress-warnings -emit-library -emit-module -module-name Unowned -o libUnowned.so Unowned.swift
swiftc -swift-version 5 -O -suppress-warnings -I. -L. -lUnowned -Xlinker -rpath -Xlinker '$ORIGIN' caller.swift -o caller
mkdir -p left
printf '%s\n' 'patch { id = "left", version = "1.0.0", api = 1 }' 'method "caller.offer(_:)":before(function(call, it) it:kept() end)' >left/left.lua
capture left timeout 60 "$scripthost" run -v --state state --patches left -- ./caller
says 'calls that may leave a copy behind are counted, and told at the end' left.err "left: 3 calls of 'Unowned.Alone.kept()' may each have left a copy of the value behind"

# What is told of the toolchain's own libraries is what they declare: by their interfaces, and by their code alone.
libraries=$(dirname "$(toolchain_bin)")/lib/swift/linux
for module in Swift _Concurrency Foundation FoundationEssentials; do
  case $module in Swift) library=libswiftCore ;; _Concurrency) library=libswift_Concurrency ;; *) library=lib$module ;; esac
  swift-api-digester -dump-sdk -module "$module" -target x86_64-unknown-linux-gnu -I "$libraries" -avoid-location -o declared.json 2>digester.err || :
  for way in --self --code-alone; do
    "$products/call-plans" --self "$way" "$libraries/$library.so" >told.toolchain
    if python3 -B "$here/share.py" declared.json <told.toolchain >share; then good "$module, $way: $(tail -n 1 share)"; else bad "$module, $way" "$(cat share digester.err)"; fi
  done
done
finish
