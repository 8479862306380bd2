#!/usr/bin/env bash
# Spans of requests that begin in one call and are answered in another: in a program made for it, and in docc's preview server, which is
# SwiftNIO as somebody else compiled it.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"

cd "$work"
for level in -Onone -O; do
  swiftc -swift-version 5 $level -module-name Bus "$here/bus.swift" -o bus 2>swiftc.log || { bad "$level: the program is built" "$(cat swiftc.log)"; continue; }
  capture alone ./bus
  capture hosted timeout 120 "$scripthost" run --state "state$level" --patches "$here/bus.lua" -- ./bus
  ended "$level: the program ends well" hosted
  same "$level: its output" alone.out hosted.out
  "$scripthost" events --state "state$level" --kind span --json >spans.jsonl
  if python3 -B "$here/check.py" spans.jsonl 200 >said; then good "$level: $(tail -n 1 said)"; else bad "$level: $(tail -n 1 said)" "$(head -n 5 said)" "$(tail -n 4 hosted.err)"; fi
done

capture wrong "$scripthost" run -v --state wrong --patches "$here/wrong.lua" -- ./bus
says 'a key without an end' wrong.err "'key' and 'cancels' are for a span with 'ends'"
says 'an end that is not there' wrong.err "did you mean"
says 'a condition on a result' wrong.err 'what ends a span is asked when the call begins'
says 'a field that ends do not have' wrong.err "unknown field 'name'"
says 'a parent that is no path' wrong.err "no argument '2'"

docc=$(readlink -f "$(command -v docc)")
mkdir Doc.docc
printf '# Doc\n\n@Metadata { @TechnologyRoot }\n\nText.\n' >Doc.docc/Doc.md
requests=${SERVERS_REQUESTS:-200}
# So that dictionaries are written in the same order in both runs.
export SWIFT_DETERMINISTIC_HASHING=1
check 'docc previews alone' python3 -B "$here/preview.py" alone.answers $requests "$docc" preview Doc.docc --port PORT --output-path out
check 'docc previews under --apm' python3 -B "$here/preview.py" hosted.answers $requests \
  "$scripthost" run --state docc --apm -- "$docc" preview Doc.docc --port PORT --output-path out2
same 'its answers are the same, byte by byte' alone.answers hosted.answers
"$scripthost" events --state docc --kind span --json >docc.spans
grep '"kind":"server"' docc.spans >docc.jsonl || true
says 'the name that it listens at is looked up, as a span' docc.spans '"name":"dns localhost"'
judged docc python3 -B "$here/continued.py" docc.jsonl $requests
"$scripthost" events --state docc --kind startup --json >docc.startup
for stage in process loader host main first; do check "--apm: the stage '$stage' of docc" [ "$(grep -c "\"name\":\"$stage\"" docc.startup)" -eq 1 ]; done
says 'what is not there' docc.jsonl '"http.response.status_code":404'
"$scripthost" events --state docc --kind metric --json >docc.metrics
says 'what its rules take is told by their functions' docc.metrics '"on":"NIOHTTP1.HTTPServerPipelineHandler.channelRead(context:data:)"'
check 'of a preset that is for other programs nothing is missed' bash -c "! '$scripthost' events --state docc --kind note | grep 'never appeared'"

# Some hundred rules at once, and three on hundreds of functions: to put them into the program is no time of the script's.
for number in $(seq 40); do printf '# Page %d\n\nWords about <doc:Page%d> and **more**.\n\n- one\n- two\n' "$number" $((number % 40 + 1)) >"Doc.docc/Page$number.md"; done
"$scripthost" methods --json "$docc" 'SwiftDocC.**' >methods.json 2>methods.err
python3 -B "$here/rules.py" methods.json ${SERVERS_RULES:-400} >many.lua
capture alone timeout 120 "$docc" convert Doc.docc --output-path alone.out.d
capture many timeout 300 "$scripthost" run -v --state many --patches many.lua -- "$docc" convert Doc.docc --output-path many.out.d
ended 'docc converts with some hundred rules' many
same 'it says what it says alone' alone.out many.out
check 'and writes the same, byte by byte' diff -r alone.out.d many.out.d
check 'all of the rules are in it' bash -c 'grep -q "many.lua: loaded, [0-9]* hooks" many.err && ! grep -q "stopped: ran longer" many.err'
sed -n 's/.*many.lua: \(loaded, [0-9]* hooks\)/        \1/p' many.err
"$scripthost" query --state many --format csv 'SELECT kind, count(*) FROM records GROUP BY 1' | tr -d '\r' >many.csv
for kind in event span metric; do check "$kind: they record" grep -q "^$kind,[0-9]" many.csv; done
finish
