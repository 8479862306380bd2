#!/usr/bin/env bash
# Tests/Programs/trace/run.sh: what `scripthost trace` shows, in its formats, and when it ends.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"

cd "$work"
swiftc -O -parse-as-library -module-name Shop "$here/Shop.swift" -o shop 2>swiftc.err || fail "$(cat swiftc.err)"
trace() { timeout 60 "$scripthost" trace --state "$work/state" "$@"; }
capture alone ./shop

# MARK: Lines

capture text trace -o text.lines -e 'Shop.Shop.*' -e 'Shop.Sh**' -e 'Shop.tick(_:)' -- ./shop
same_run 'a trace leaves the program as it was' alone text
says 'the first line counts' text.lines ' matched, '
says 'what is not known is told at the beginning' text.lines 'may miss copies of it that were inlined: shop has no debug information'
for line in 'Shop.add("milk", price: 2.5, [1, 2], many: [0, 1, 2,' '…] (1000)) -> false' 'Shop.take("tea", 5)  !! ShopError.outOfStock("tea", left: 1)' \
  'Shop.send(.post(street: "Elm", number: 7)) -> .post(street: "Elm", number: 7)' 'Shop.only(["tea": 2.0]) -> [2]' \
  'Shop.sign(Login(user: "ann", password: <masked>), 0.5, 9) -> inf' '         Shop.outer() {' '} Shop.wait -> 2  (async)'; do
  says "a line shows $line" text.lines "$line"
done
check 'a call is on one line, whatever patterns match it' [ "$(grep -c 'Shop.take(' text.lines)" = 1 ]
check 'times are on the left' grep -qE '^ *[0-9.]+ [unm]?s  } Shop.outer -> 3$' text.lines
check 'lines of another thread name it' grep -qE '^ *[0-9.]+ [unm]?s  \[[0-9]+\] tick\(7\) -> 7$' text.lines
check 'a file has no colour' bash -c '! grep -q $(printf "\033") text.lines'

capture narrow trace -o narrow.lines --width 24 -e 'Shop.Shop.*' --self --thread --task --timestamps -- ./shop
check 'a narrow one cuts values' grep -qE 'many: \[0, 1, 2, 3, 4, 5, 6, 7, …\] \(1000\)\)' narrow.lines
check 'columns on request' grep -qE '^[0-9:]{8}\.[0-9]{6}Z +[0-9.]+ [unm]?s  main +(-|task [0-9]+) +} Shop.outer -> 3$' narrow.lines
check 'self on request' grep -qE 'Shop.inner\(self: <Shop 0x[0-9a-f]+>\)' narrow.lines

# MARK: JSON

capture json trace --format json --self -o json.lines -e 'Shop.Shop.*' -e 'Shop.tick(_:)' -x '**.init*' -x '**.deinit' -- ./shop
same_run 'one in JSON leaves the program as it was' alone json
judged JSON python3 "$here/check.py" json.lines
capture table trace -c --format json -o table.lines --why -e 'Shop.Shop.*' -- ./shop
check 'a table in JSON is JSON' python3 -c '
import json
lines = [json.loads(l) for l in open("table.lines")]
assert lines[0]["kind"] == "hooks" and lines[-1]["kind"] == "summary"
rows = {l["selector"]: l for l in lines if l["kind"] == "function"}
take = rows["Shop.Shop.take(_:_:)"]
assert take["calls"] == 1 and take["errors"] == 1 and take["total_ns"] >= take["self_ns"], take
assert rows["Shop.Shop.send(_:)"]["calls"] == 3'

# MARK: Ends

for signal in TERM INT HUP; do
  python3 "$here/ends.py" "$signal" served.lines "$scripthost" trace --state "$work/state" -o served.lines -c -e 'Shop.tick(_:)' -- ./shop serve >ends.said 2>&1 || true
  says "SIG$signal ends the program by that signal" ends.said "ended by SIG$signal"
  says "and its forked child before" ends.said 'child ended by 15'
  check "the table is there on SIG$signal" grep -qE ' Shop.tick\(_:\)$' served.lines
done
python3 "$here/ends.py" TERM served.lines "$scripthost" trace --state "$work/state" -o served.lines -c --for 300ms -e 'Shop.tick(_:)' -- ./shop serve >ends.said 2>&1 || true
says '--for ends the trace with its table, and the program goes on' ends.said 'table before the end: True'
says 'until a signal ends it' ends.said 'ended by SIGTERM'
# Who looks for a name need not know all of it.
capture found "$scripthost" types swift-format SwiftLinter
same 'types: a bare name' <(echo 'class  SwiftFormat.SwiftLinter') found.out
capture found "$scripthost" find docc request
check "find: the program's own functions come before libraries, C functions last" awk '
  /^(static )?SwiftDocC\./ { tier = 1 } /^(static )?FoundationNetworking\./ { tier = 2 } /^C\./ { tier = 3 }
  tier { if (tier < last) exit 1; last = tier; seen[tier] = 1; tier = 0 } END { exit !(seen[1] && seen[2] && seen[3]) }' found.out
capture found "$scripthost" find swift-format prettyPrint
check 'find: what is called so comes first' grep -q '\.prettyPrint(' <(head -n 1 found.out)
capture found "$scripthost" methods docc 'SwiftDocCUtilities.**'
says 'a glob of a module that is not there' found.err "no selector matches 'SwiftDocCUtilities.**' in docc: no module 'SwiftDocCUtilities' is in it"
capture found "$scripthost" methods swift-format SwiftFormat.SwiftLinter
says 'methods: a type stands for its members' found.out 'SwiftFormat.SwiftLinter.init(configuration: Configuration'
capture found "$scripthost" methods swift-format prettyPrint
says 'methods: a bare name is looked for everywhere' found.out 'SwiftFormat.PrettyPrinter.prettyPrint()'
capture found "$scripthost" types swift-format NoSuchNameAnywhere
check 'types: what is nowhere is told' grep -q "^scripthost: no type matches 'NoSuchNameAnywhere'" found.err
finish
