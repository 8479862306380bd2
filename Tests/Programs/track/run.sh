#!/usr/bin/env bash
# Rules as data: what they capture, which calls they record, what is about people, what is refused when they are loaded.
# TRACK_TICKS: how many events from eight threads (200000); TRACK_PACED: how many while rules are replaced (40000).
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"

ticks=${TRACK_TICKS:-200000} paced_ticks=${TRACK_PACED:-40000}
cd "$work"
unset XDG_RUNTIME_DIR SCRIPTHOST_CONTROL

# tracked PATCH MODE COUNT: runs the program with a patch; events as lines of name and fields in PATCH.said.
tracked() {
  local name=$1
  shift
  rm -f events.jsonl
  capture "$name" "$scripthost" run -v --state state --events events.jsonl --patches "$here/patches/$name.lua" -- ./shop "$@"
  ended "$level: $name: the program ends well" "$name"
  sed -n 's/.*"kind":"event","name":"\([^"]*\)".*"fields":\(.*\)}$/\1 \2/p; s/.*"kind":"event","name":"\([^"]*\)"[^{]*}$/\1/p' events.jsonl >"$name.said"
}
# events NAME COUNT: so many events of the name were recorded.
events() {
  local found
  found=$(grep -c "^$1\( \|$\)" limits.said) || true
  check "$level: '$1': $2 events, found $found" [ "$found" -eq "$2" ]
}

clang -shared -fPIC -O1 "$here/counts.c" -o counts.so -ldl
for level in -Onone -O; do
  swiftc -swift-version 6 $level -module-name Shop "$here/shop.swift" -o shop 2>swiftc.log || { cat swiftc.log; bad "$level: the program is built"; continue; }
  capture alone ./shop visits

  tracked fields visits
  unchanged "$level: rules leave the program as it was" alone fields
  same "$level: paths lead where they say" "$here/expected/fields" fields.said

  tracked privacy visits
  check "$level: what is dropped is not there" bash -c '! grep -q "\"age\"\|ada@\|:36[,}]" privacy.said'
  check "$level: a hash stands in" grep -q '"buyer":"[0-9a-f]\{16\}"' privacy.said
  check "$level: a mask stands in" grep -q '"title":"<masked>"' privacy.said
  check "$level: nil stays nil" grep -q '"buyer":null' privacy.said
  cp privacy.said privacy.first
  tracked privacy visits
  same "$level: equal values have equal hashes in the next run" privacy.first privacy.said

  rm -f events.jsonl
  capture elsewhere "$scripthost" run --state "elsewhere$level" --events events.jsonl --patches "$here/patches/privacy.lua" -- ./shop visits
  check "$level: and others with the key of another state directory" [ "$(grep -o '"buyer":"[0-9a-f]\{16\}"' events.jsonl | head -n 1)" != "$(grep -o '"buyer":"[0-9a-f]\{16\}"' privacy.said | head -n 1)" ]

  tracked limits taps 3000
  events all 3000
  events some 1000
  events words 1000
  events among 2000
  events apart 2000
  events never 0
  events rated 50
  events once 1
  events each 3
  events touched 3
  sampled=$(grep -c '^sampled' limits.said)
  check "$level: about a tenth is sampled ($sampled of 3000)" [ "$sampled" -gt 200 -a "$sampled" -lt 400 ]

  # Paths that call the program show what is read: once for the first call of each rule.
  tracked unread shelf
  check "$level: a repeat by 'same' and what is over the rate are left out" [ "$(cut -d' ' -f1 unread.said | tr '\n' ' ')" = 'put take ' ]
  says "$level: and not read" unread.out 'looked at 3'

  tracked handles taps 3000
  check "$level: a rule that is removed, or off, records nothing" bash -c '! grep -q "^gone\|^off" handles.said'
  check "$level: a rule that stays records" grep -q '^seen {"name":"button 0"}$' handles.said
  says "$level: remove answers whether it was there" handles.err "track 'gone' (1 hooked)	true	false"
  says "$level: a rule whose function may be missing" handles.err 'handles.lua:10: 0'
  says "$level: info counts" handles.err 'some	Shop.tap(_:at:)	3000	1000	2000'

  # At the edges of a window: by the program's own clock. A busy machine may put a call on an edge: then again.
  for _ in 1 2 3 4 5; do
    capture edges "$scripthost" run --state "edges$level" --patches "$here/patches/edges.lua" -- ./shop edges
    "$scripthost" events --state "edges$level" --kind event --json >edges.jsonl
    python3 "$here/edges.py" edges.jsonl times >edges.said || true
    rm -rf "edges$level"
    grep -q again edges.said || break
  done
  says "$level: one action within 0.1 s is one event, not beyond, and a rate has room again" edges.said right
  printf 'patch { id = "first", api = 1 }\ntrack "first" { on = "Shop.tick(_:_:)", once_per = "thread" }\n' >first.lua
  "$scripthost" run --state "first$level" --patches first.lua -- ./shop ticks 8000 >/dev/null 2>&1
  check "$level: the first of each thread" [ "$("$scripthost" events --state "first$level" --kind event | wc -l)" -eq 8 ]

  # No memory and no lock is taken when a rule fires: what 100,000 calls more take with rules is what they take without.
  for calls in 1000 101000; do
    COUNTS=$work/alone.$calls LD_PRELOAD=$work/counts.so ./shop taps $calls >/dev/null
    COUNTS=$work/lean.$calls LD_PRELOAD=$work/counts.so "$scripthost" run --state "lean$level" --patches "$here/patches/lean.lua" -- ./shop taps $calls >/dev/null 2>&1
  done
  read -r allocations locks < <(paste alone.1000 alone.101000 lean.1000 lean.101000 | awk '{ print ($7 - $5) - ($3 - $1), ($8 - $6) - ($4 - $2) }')
  check "$level: 900,000 times that a rule fires take $allocations allocations" [ "$allocations" -lt 2000 ]
  check "$level: and $locks locks" [ "$locks" -lt 2000 ]

  # What is wrong is told when the rule is loaded, in one sentence: each is a patch of its own, and one program loads all of them.
  rm -rf wrong && mkdir wrong
  names=() sentences=()
  while IFS= read -r line; do
    case $line in
      '=== '*) names+=("${line#=== }") ;;
      '> '*) sentences+=("${line#> }") ;;
      *) printf 'patch { id = "wrong%s", api = 1 }\n%s\n' ${#names[@]} "$line" >wrong/wrong${#names[@]}.lua ;;
    esac
  done <"$here/wrong.lua"
  capture wrong "$scripthost" run --state state --patches wrong -- ./shop taps 1
  for each in "${!names[@]}"; do
    grep -aF "wrong$((each + 1)).lua:" wrong.err >wrong.said || true
    says "$level: ${names[each]}" wrong.said "${sentences[each]}"
  done

  # None lost, none doubled, from eight threads at once.
  rm -f events.jsonl
  capture ticks "$scripthost" run --state "state$level" --patches "$here/patches/ticks.lua" -- ./shop ticks "$ticks"
  ended "$level: eight threads end well" ticks
  "$scripthost" events --state "state$level" --kind event --json >ticks.jsonl
  python3 "$here/ticks.py" ticks.jsonl "$ticks" >ticks.said || true
  says "$level: $ticks events of eight threads: none lost, none doubled, in order" ticks.said "right $ticks"

  # The threads run while the rule is replaced again and again, by one with other fields, and a metric and a span of the calls with it.
  rm -rf live && mkdir live
  for text in one two three; do
    field=text
    [ $text != three ] || field=other
    printf 'patch { id = "ticks", api = 1 }\ntrack "tick" { on = "Shop.tick(_:_:)", fields = { thread = "args.1", number = "args.2", %s = "'"'%s'"'" } }\nmetric "ticks" { on = "Shop.tick(_:_:)", counter = true }\nspan { on = "Shop.tick(_:_:)", name = "tick %s" }\n' $field $text $text >$text.lua
  done
  cp one.lua live/ticks.lua
  "$scripthost" run --state "live$level" --patches live -- ./shop paced "$paced_ticks" >live.out 2>live.err &
  paced=$! reloads=0
  texts=(one two three)
  while kill -0 $paced 2>/dev/null; do
    cp ${texts[$(((reloads + 1) % 3))]}.lua next && mv next live/ticks.lua
    timeout 10 "$scripthost" patch reload --state "live$level" $paced ticks >/dev/null 2>&1 && reloads=$((reloads + 1)) || sleep 0.02
  done
  wait $paced || bad "$level: the program ends well while its rule is replaced" "$(tail -n 3 live.err)"
  "$scripthost" events --state "live$level" --kind event --json >live.jsonl
  python3 "$here/ticks.py" live.jsonl "$paced_ticks" 3 >live.said || true
  says "$level: none lost, none doubled while the rule was replaced $reloads times" live.said "right $paced_ticks"
  check "$level: by another text each time" [ "$reloads" -ge 3 ]
  check "$level: each call is one of its spans" [ "$("$scripthost" events --state "live$level" --kind span --json | grep -c '"name":"tick [a-z]*"')" -eq "$paced_ticks" ]
  "$scripthost" events --state "live$level" --kind metric --json | grep '"name":"ticks"' >live.metrics || true
  counted=$(python3 -c '
import json
last = {}
for line in open("live.metrics"):
    fields = json.loads(line)["fields"]
    last[fields["start_ns"]] = max(last.get(fields["start_ns"], 0), fields["value"])
print(int(sum(last.values())))')
  check "$level: and counted once by the metrics of all of them, $counted" [ "$counted" = "$paced_ticks" ]

  # What was recorded is there after kill -9.
  capture killed "$scripthost" run --state "killed$level" --patches "$here/patches/ticks.lua" -- ./shop killed 20000
  ended "$level: the program is killed" killed 137
  "$scripthost" events --state "killed$level" --kind event --json >killed.jsonl
  python3 "$here/ticks.py" killed.jsonl 20000 >killed.said || true
  says "$level: and none of its events is lost" killed.said 'right 20000'

  # What rules and handlers take.
  cat >costs.lua <<'LUA'
patch { id = "costs", api = 1 }
track "tap" { on = "Shop.tap(_:at:)", fields = { name = "args.1" }, where = "args.at == 1" }
method "Shop.tap(_:at:)":around(function(call) return call:original() end)
LUA
  capture costs "$scripthost" run --state "costs$level" --patches costs.lua -- ./shop taps 30000
  "$scripthost" events --state "costs$level" --kind metric --json >costs.jsonl
  says "$level: calls of a rule are told" costs.jsonl '"value":30000.0,"unit":"{call}"'
  check "$level: and what the rule and the handler took of them" [ "$(grep -c '"name":"scripthost.hook.time"' costs.jsonl)" -eq 2 ]
  "$scripthost" report --state "costs$level" -o costs.html >/dev/null 2>&1 || true
  # A rule that nobody would ever read.
  printf 'track "half"\ntrack "whole" { on = "Shop.tap(_:at:)" }\nlocal later = track "used"\nlater { on = "Shop.tap(_:at:)" }\n' >half.lua
  capture half "$scripthost" run --state "costs$level" --patches half.lua -- ./shop taps 1
  same "$level: a name without its rule is told, and no other" <(echo "scripthost: half.lua: 'track \"half\"' does nothing; what belongs to it follows the name: track \"half\" …") half.err
  printf 'track("beside", { on = "Shop.tap(_:at:)" })\n' >beside.lua
  capture beside "$scripthost" run --state "costs$level" --patches beside.lua -- ./shop taps 1
  says "$level: a rule beside its name is refused" beside.err "beside.lua:1: 'track' takes the event's name and a rule: track \"name\" { on = \"…\" }"
  printf 'hooks(3)\n' >wrong.lua
  capture wrong "$scripthost" run --state "costs$level" --patches wrong.lua -- ./shop taps 1
  says "$level: hooks takes a selector" wrong.err "wrong.lua:1: 'hooks' takes a selector or a glob, got an integer"
  says "$level: the report has them" costs.html '"verb":"around","on":"Shop.tap(_:at:)","calls":30000'
done
finish
