#!/usr/bin/env bash
# Events on their way out: none lost and none doubled while rules change, the exporter is killed again and again, the collector is in trouble, the
# program is killed, the disk is full; and the program never notices.
# DELIVERY_EVENTS: how many events (40000); DELIVERY_TIME: in about how many milliseconds (3000).
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"

events=${DELIVERY_EVENTS:-40000} time=${DELIVERY_TIME:-3000} seed=${SCRIPTHOST_SEED:-$RANDOM}
echo "seed $seed"
RANDOM=$seed
cd "$work"
unset XDG_RUNTIME_DIR SCRIPTHOST_CONTROL
trap 'kill -9 ${receiver:-} ${exporter:-} ${program:-} 2>/dev/null || true; chmod -R u+rwx "$work"; rm -rf "$work"' EXIT
judge() { judged "$level" python3 "$here/judge.py" "$@"; }
size=(--journal-size 1GB)

for level in -Onone -O; do
  rm -rf state* patches progress kept* port
  swiftc -swift-version 5 $level -module-name Ticks "$here/ticks.swift" -o ticks 2>swiftc.log || { bad "$level: the program is built" "$(cat swiftc.log)"; continue; }
  capture alone ./ticks "$events" 0

  # Rules change, exporters die, the collector is slow, busy, resets, is away.
  mkdir patches && cp "$here/ticks.lua" patches/
  python3 "$here/receiver.py" port kept $((seed % 32768 + 1)) >receiver.log 2>&1 &
  receiver=$!
  for _ in $(seq 200); do [ -s port ] && break; sleep 0.1; done
  "$scripthost" run --state state "${size[@]}" --patches patches -- ./ticks "$events" "$time" >hosted.out 2>hosted.err &
  program=$!
  reloads=0 kills=0
  while kill -0 $program 2>/dev/null; do
    "$scripthost" export --state state --otlp "http://127.0.0.1:$(cat port)" --follow >>exporter.log 2>&1 &
    exporter=$!
    for _ in $(seq $((RANDOM % 4 + 1))); do
      timeout 10 "$scripthost" patch reload --state state $program ticks >/dev/null 2>&1 && reloads=$((reloads + 1)) || sleep 0.05
    done
    sleep "0.$((RANDOM % 9 + 1))"
    kill -9 $exporter 2>/dev/null && kills=$((kills + 1))
    wait $exporter 2>/dev/null || true
  done
  wait $program && status=0 || status=$?
  printf '%s\n' $status >hosted.status
  unchanged "$level: the program does as it did" alone hosted
  check "$level: rules were replaced, exporters killed ($reloads and $kills times)" [ "$reloads" -ge 1 -a "$kills" -ge 1 ]
  kill -USR1 $receiver
  for _ in 1 2 3 4 5; do capture last timeout 300 "$scripthost" export --state state --otlp "http://127.0.0.1:$(cat port)"; [ "$(cat last.status)" = 0 ] && break; done
  ended "$level: the last export ends well" last
  judge kept kept "$events"
  kill -9 $receiver; wait $receiver 2>/dev/null || true
  "$scripthost" events --state state --kind event --json >events.jsonl
  judge all events.jsonl "$events"

  # Killed at a random moment: what happened is there.
  "$scripthost" run --state state-killed "${size[@]}" --patches patches -- ./ticks 4000000 10000 progress >/dev/null 2>&1 &
  program=$!
  for _ in $(seq 200); do [ -s progress ] && break; sleep 0.1; done
  sleep "0.$((RANDOM % 9 + 1))"
  kill -9 $program; wait $program 2>/dev/null || true
  "$scripthost" events --state state-killed --kind event --json >killed.jsonl
  judge killed killed.jsonl progress

  # A file system of its own that is full for the first half. There is room for what the host keeps of libraries, too.
  cat >full.sh <<'INSIDE'
mkdir -p small && mount -t tmpfs -o size=16m tmpfs small || exit 77
"$1" run --state small --patches patches -- ./ticks full 16000 small/filler >full.out 2>full.err || exit 1
"$1" events --state small --kind event --json >full.jsonl 2>full.told
"$1" events --state small --kind gap --json >full.gaps 2>/dev/null
umount small
INSIDE
  status=0
  if unshare -m true 2>/dev/null; then unshare -m bash full.sh "$scripthost" || status=$?
  elif unshare -rm true 2>/dev/null; then unshare -rm bash full.sh "$scripthost" || status=$?
  else status=77; fi
  if [ $status = 77 ]; then
    echo "        $level: no file system of its own may be mounted here; what happens on a full disk is not looked at"
  else
    check "$level: the program ends well on a full disk" [ $status -eq 0 ]
    same "$level: with its output" <(echo 'ticked 16000') full.out
    told=$(grep -oE '^scripthost: [0-9]+ records? could not' full.told | grep -oE '[0-9]+') || told=0
    gaps=$(grep -oE '"dropped":[0-9]+' full.gaps | awk -F : '{ sum += $2 } END { print sum + 0 }')
    judge full full.jsonl 16000 "$told" "$gaps"
    says "$level: the program's user is told" full.err 'could not be written'
  fi
done

# A program that records more than its journal keeps while nobody exports: the exporter tells that files are gone.
"$scripthost" run --state state-small --journal-size 1MB --patches patches -- ./ticks 80000 0 >/dev/null 2>&1
check 'the journal keeps what it may' [ "$(du -sk state-small/journal | cut -f 1)" -le 1200 ]
capture gone timeout 60 "$scripthost" export --state state-small --otlp http://127.0.0.1:9
says 'an exporter tells of files that had to go' gone.err 'had to go before they were exported'
capture young "$scripthost" run --state state-small --journal-age 1h --patches patches -- ./ticks 8 0
check 'files that are young enough stay' [ "$(ls state-small/journal/*.journal | wc -l)" -ge 4 ]
touch -d '2 days ago' state-small/journal/*.journal
capture old "$scripthost" run --state state-small --journal-age 1d --patches patches -- ./ticks 8 0
"$scripthost" events --state state-small --kind event --json >old.jsonl
check 'older ones go when a program starts' [ "$(wc -l <old.jsonl)" -eq 8 ]
for words in '--journal-size many' '--journal-size 1KB' '--journal-age old'; do
  # Two words.
  capture refused "$scripthost" run $words -- ./ticks 8 0
  says "'$words' is told" refused.err "'${words% *}'"
done
finish
