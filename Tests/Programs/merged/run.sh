#!/usr/bin/env bash
# Tests/Programs/merged/run.sh [SEED]: hooks on functions that the compiler merged count their own calls and no others,
# where the constants that tell them apart are in registers and where they are on the stack; what goes straight to merged code without a name is told.
# A call through merged witnesses is one call, and one of an equal function that throws is that function's alone.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
seed=${1:-${SCRIPTHOST_SEED:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}}
printf 'seed %s (SCRIPTHOST_SEED)\n' "$seed"
python3 -B "$here/generate.py" "$seed" "${MERGED_COUNT:-60}" >"$work/Merged.swift"
for level in -Onone -O -Osize; do
  swiftc -swift-version 6 "$level" -wmo -parse-as-library -suppress-warnings -module-name Merged "$work/Merged.swift" -o "$work/merged$level"
  mkdir "$work/$level"
  if python3 -B "$here/check.py" "$scripthost" "$work/merged$level" "$work/Merged.swift" "$work/$level"; then
    good "$level: events are as many as calls"
  else
    bad "$level: events are as many as calls" "again with $0 $seed"
  fi
done

# Equal functions that LLVM must not fold into one of them: it keeps their code under no name, and some calls go there.
cd "$work"
cp "$here"/nameless/*.swift .
for level in -O -Osize; do
  swiftc -swift-version 6 "$level" -g -parse-as-library -emit-library -emit-module -module-name Lib Lib.swift -o libLib.so
  swiftc "$level" -g -I. -L. -lLib -Xlinker -rpath -Xlinker '$ORIGIN' -module-name App main.swift -o app
  called=$(./app | awk '$1 == "COUNT" && $2 == "name" { print $3 }')
  capture traced "$scripthost" trace -c --why --state state -o table -e 'Lib.Named.name(_:)' -- ./app
  seen=$(awk '$NF == "Lib.Named.name(_:)" { sum += $(NF - 1) } END { print sum + 0 }' table)
  check "nameless, $level: no more is seen than is called" [ "$seen" -le "$called" ]
  # Without such code in the program there is nothing to tell.
  check "nameless, $level: the program has calls of such code" [ "$seen" -lt "$called" ]
  says "nameless, $level: a trace tells what it may miss" table 'in part Lib.Named.name(_:): may miss calls that go straight to the code it jumps to, which has no name'
  "$scripthost" explain ./app 'Lib.Named.name(_:)' >explained
  check "nameless, $level: explain does not call the family covered" grep -qE 'family     (not known to be covered: a hook may miss calls that go straight to the code it jumps to|covered in part)' explained
  printf '%s\n' 'patch { id = "nameless", version = "1.0.0", api = 1 }' 'track "name" { on = "Lib.Named.name(_:)" }' >nameless.lua
  capture_loaded ruled "$scripthost" run -v --state state --patches nameless.lua -- ./app
  says "nameless, $level: loading a patch tells it" ruled.err "hooks on 'Lib.Named.name(_:)' may miss calls that go straight to the code it jumps to"
done

# Witnesses that the compiler merged go through one body to the functions that they were made of: one call each.
cp "$here/witnesses/main.swift" witnesses.swift
printf '%s\n' 'patch { id = "witnesses", version = "1.0.0", api = 1 }' 'local calls = 0' \
  'method "Witnesses.Second.init(from:)":before(function(call) calls = calls + 1 end)' \
  'method "Witnesses.finish()":before(function(call) print("SEEN Second " .. calls) end)' >witnesses.lua
for level in -Onone -O -Osize; do
  swiftc -swift-version 6 "$level" -wmo -module-name Witnesses witnesses.swift -o witnesses
  [ "$level" = -Onone ] || check "witnesses, $level: the program has merged ones" grep -q 'TWTm$' <(nm witnesses)
  capture traced "$scripthost" trace -c --state state -o table -e 'Witnesses.*.init(from:)' -- ./witnesses
  for type in First Second; do
    called=$(awk -v type=$type '$1 == "COUNT" && $2 == type { print $3 }' traced.out)
    seen=$(awk -v name="Witnesses.$type.init(from:)" '$NF == name { sum += $(NF - 1) } END { print sum + 0 }' table)
    check "witnesses, $level: $called calls of $type.init are as many events ($seen)" [ "$seen" = "$called" ]
  done
  capture ruled "$scripthost" run -v --state state --patches witnesses.lua -- ./witnesses
  says "witnesses, $level: a handler runs once for each call" ruled.err 'SEEN Second 20'
done

# Equal functions that throw: what is left of the second one is a call of the first. Classes tell whose a call is; of structs it is told what is missed.
for level in -Onone -O -Osize; do
  swiftc -swift-version 6 "$level" -wmo -module-name Throwing "$here/throwing/main.swift" -o throwing
  for type in First Second Left Right; do
    printf '%s\n' 'patch { id = "throwing", version = "1.0.0", api = 1 }' "method \"Throwing.$type.go(_:)\":before(function(call) print('SEEN') end)" \
      "track \"$type\" { on = \"Throwing.$type.go(_:)\" }" >throwing.lua
    rm -f throwing.events
    capture_loaded ruled "$scripthost" run -v --state state --events throwing.events --patches throwing.lua -- ./throwing
    events=$(grep -c '"kind":"event"' throwing.events || true) handlers=$(grep -c ': SEEN$' ruled.err || true)
    check "throwing, $level: no call of another function is one of $type.go (events $events, handlers $handlers, calls 10)" \
      [ "$events" -le 10 -a "$handlers" = "$events" ]
    case $type in
    First | Second) check "throwing, $level: each of $type.go is one event" [ "$events" = 10 ] ;;
    *) [ "$events" = 10 ] || check "throwing, $level: what a hook on $type.go misses is told" grep -q "hooks on 'Throwing.$type.go(_:)' may\|bodies of 'Throwing.$type.go(_:)' are hooked" ruled.err ;;
    esac
  done
done
# The debug information does not name them, and yet speaks of their module.
swiftc -swift-version 6 -O -g -wmo -module-name Throwing "$here/throwing/main.swift" -o throwing
for type in First Second Left Right; do
  "$scripthost" explain ./throwing "Throwing.$type.go(_:)" >explained
  says "throwing, -g: what was inlined of $type.go is known" explained 'no inlined copy in the debug information'
done
finish
