#!/usr/bin/env bash
# The reference of scripts: docs/lua-api.md is its output, every example in it loads, runs and passes the checker, and what it names is there.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"

cd "$work"
swiftc -Onone -suppress-warnings -parse-as-library -emit-library -emit-module -module-name Shop "$here/Shop.swift" -o libShop.so
swiftc -Onone -suppress-warnings -I. -L. -lShop -Xlinker -rpath -Xlinker '$ORIGIN' -module-name main "$here/main.swift" -o shop
capture alone ./shop

# MARK: The page

capture page "$scripthost" doc --markdown
ended 'the page is written' page
same 'docs/lua-api.md is what the command prints' page.out "$root/docs/lua-api.md"
capture overview "$scripthost" doc
says 'the overview has Lua itself' overview.out 'string: byte char'
capture entry "$scripthost" doc swift.with
says 'an entry has its example' entry.out 'swift.with(cart.lines[1], { quantity = 9 })'
capture member "$scripthost" doc around
says 'a member is found by its name alone' member.out 'Method:around(handler: function, options?: table) -> Hook'
capture kind "$scripthost" doc Error
says 'a kind of value is found by its name' kind.out 'A Swift error: what'
for member in type message case value; do says "with its member $member" kind.out "Error.$member: "; done
capture lua "$scripthost" doc string.format
says 'a name of Lua tells its limits' lua.out 'Within the budgets of a call'
capture miss "$scripthost" doc swift.wth
ended 'a name that is not there' miss 1
says 'the nearest is told' miss.err "did you mean 'swift.with'?"

# MARK: The examples

python3 - "$root/docs/lua-api.md" <<'PY'
import re, sys
text = open(sys.argv[1]).read()
for number, (name, body) in enumerate(re.findall(r'^### `([^`]*)`\n(?:(?!^### ).)*?^```lua\n(.*?)^```', text, re.M | re.S)):
    word = re.sub(r'[^A-Za-z.]+', '-', name.split('(')[0]).strip('-')
    open(f'{number:02d}-{word}.lua', 'w').write(body)
PY
# Entries without an example of their own say where one is.
python3 - page.out >bare <<'PY'
import re, sys
for part in re.split(r'^### ', open(sys.argv[1]).read(), flags=re.M)[1:]:
    part = part.split('\n## ')[0]
    if '```lua' not in part and 'Example: at `' not in part: print(part.split('\n')[0])
PY
same 'every entry has an example, or names one that shows it' bare /dev/null
count=0
capture check "$scripthost" check [0-9]*.lua ./shop
ended 'the checker finds no mistake in them' check
for file in [0-9]*.lua; do
  count=$((count + 1))
  capture_loaded run timeout 60 "$scripthost" run --state state --patches "$file" -- ./shop
  ended "$file: the program runs on" run
  if grep -aF "$file" run.err >told; then bad "$file: nothing is told against it" "$(head -n 5 told)"; else good "$file: nothing is told against it"; fi
done
check 'there are examples' [ "$count" -ge 80 ]

# MARK: Tests of patches

capture tests "$scripthost" test "$(ls [0-9]*-test.lua)" ./shop
ended 'the example of test passes' tests
says 'its test is told' tests.out 'ok      adds'
cat >failing.lua <<'LUA'
method "Shop.Cart.total(tax:)":around(function(call) return call:original() + 1 end)
test "passes" (function(t)
  t.expect(t.hooked "Shop.Cart.total(tax:)")
  t.stub("Shop.Cart.total(tax:)", 1.5)
  t.equal(t.call(class "Shop.Cart":make(), "total(tax:)", 0.0), 2.5)
end)
test "the stub is gone" (function(t) t.equal(t.call(class "Shop.Cart":make(), "total(tax:)", 0.0), 3.0) end)
test "fails" (function(t)
  t.equal(1, 2, "sums")
end)
test "raises" (function(t)
  local x = nil
  return x.y
end)
test "expects an error" (function(t) t.fails(function() error("boom") end, "boom") end)
test "runs for ever" (function() while true do end end)
LUA
capture failing "$scripthost" test failing.lua ./shop
ended 'tests that fail end with status 1' failing 1
for name in 'passes' 'the stub is gone' 'expects an error'; do says "a test that passes: $name" failing.out "ok      $name"; done
says 'a failed comparison has its place' failing.out 'failing.lua:9: sums: expected 2, found 1'
says 'an error has its place' failing.out 'failing.lua:13: attempt to index a nil value'
says 'an endless test is stopped' failing.out 'FAILED  runs for ever'
says 'they are counted' failing.out '6 tests, 3 failed'
capture json "$scripthost" test --json failing.lua ./shop
check 'JSON reads back' python3 -c '
import json
found = [json.loads(line) for line in open("json.out")]
assert [each["ok"] for each in found] == [True, True, False, False, True, False], found
assert found[2]["line"] == 8 and "expected 2" in found[2]["message"], found'
printf 'method "Shop.Crt.x()"\n' >broken.lua
capture broken "$scripthost" test broken.lua ./shop
check 'a patch that is refused does not pass' [ "$(cat broken.status)" -ne 0 ]

cat >handlers.lua <<'LUA'
method "Shop.Cart.total(tax:)":around(function(call) error("handler is broken") end)
method "Shop.Cart.checkout()":after(function(call) call.result = "bad" end)
local function cart()
  local made = swift.new("Shop.Cart", "init(title:)", "x")
  made:add("a", 2.0, 3)
  return made
end
test "sees the original" (function(t) t.equal(t.call(cart(), "total(tax:)", 0), 6.0) end)
test "sets a result" (function(t) t.equal(t.call(cart(), "checkout()"), 1) end)
test "expects it" (function(t) t.expect(t.fails(function() t.call(cart(), "total(tax:)", 0) end, "handler is broken"):find("in around 'Shop.Cart.total(tax:)'", 1, true)) end)
test "expects one of two" (function(t)
  t.call(cart(), "total(tax:)", 0)
  t.fails(function() t.call(cart(), "checkout()") end, "expected Int")
end)
test "expects another" (function(t) t.fails(function() t.call(cart(), "total(tax:)", 0) end, "no such words") end)
test "calls nothing" (function(t) t.expect(true) end)
test "stubs with another type" (function(t)
  t.stub("Shop.discount(for:)", "text")
  swift.call("Shop.discount(for:)", 1)
end)
test "stubs what is not there" (function(t)
  t.stub("Shop.Cart.totl(tax:)", 1)
end)
test "compares nothing" (function(t) t.equal() end)
test "compares one" (function(t)
  t.equal(1)
end)
test "throws" (function(t)
  t.call(swift.new("Shop.Cart", "init(title:)", "x"), "checkout()")
end)
test "calls what is not there" (function(t)
  t.call(cart(), "chekout()")
end)
test "expects an error of no function" (function(t) t.fails(7) end)
LUA
capture handlers "$scripthost" test handlers.lua ./shop
ended 'a handler that fails fails the test that called it' handlers 1
failed() { says "$1" <(grep -A 1 "^FAILED  $2\$" handlers.out) "$3"; }
failed 'with its message, its place and its function' 'sees the original' "handlers.lua:1: handler is broken (in around 'Shop.Cart.total(tax:)')"
failed 'one that sets a result of another type' 'sets a result' "handlers.lua:2: result of 'Shop.Cart.checkout()': expected Int, got a string"
says 'a test that expects it passes' handlers.out 'ok      expects it'
failed 'what failed besides is not expected' 'expects one of two' 'handlers.lua:1: handler is broken'
failed 'nor is another message' 'expects another' 'expected an error with "no such words", found "handlers.lua:1: handler is broken'
says 'what failed in one test is nothing to the next' handlers.out 'ok      calls nothing'
failed 'a stub that answers another type' 'stubs with another type' "handlers.lua:17: the handler's result: expected Double, got a string"
failed 'a stub of what is not there has its line' 'stubs what is not there' "handlers.lua:22: no selector 'totl(tax:)' in Shop.Cart"
failed 'a comparison of nothing' 'compares nothing' "handlers.lua:24: 't.equal' takes what was found and what is expected, got nothing"
failed 'a comparison of one value' 'compares one' "handlers.lua:26: 't.equal' takes what was found and what is expected, got one value"
failed 'an error of the program says what it is' 'throws' 'an error was not caught: '
failed 'which is not lost' 'throws' 'Empty'
failed 'a call of what is not there has its line' 'calls what is not there' 'handlers.lua:32: '
failed 'an expectation of no function' 'expects an error of no function' "handlers.lua:34: 't.fails' takes a function and a text of the error, got 7"
check 'no place is told twice' [ -z "$(grep -E '(handlers\.lua:[0-9]+: ){2}' handlers.out)" ]

# MARK: JSON

cat >json.lua <<'LUA'
test "what was read is written the same" (function(t)
  for _, text in ipairs { "null", "true", "7", "-9223372036854775808", "9223372036854775807", "0.5", '"a\\u0000b"', '"\u{1F600}"', "[1,2.5,null,[true]]", '{"a":{"b":[1]},"c":"d"}' } do
    t.equal(json.encode(json.decode(text)), text)
  end
end)
test "kinds" (function(t)
  t.equal(math.type(json.decode "9223372036854775807"), "integer")
  t.equal(math.type(json.decode "1e3"), "float")
  t.equal(json.decode '"\\u00e9\\ud83d\\ude00"', "é\u{1F600}")
  t.equal(json.decode("null"), swift.null)
  t.equal(json.decode('{"a":null}').a, swift.null)
  t.equal(#json.decode '"a\\u0000b"', 3)
  t.equal(json.encode {}, "{}")
end)
test "mistakes" (function(t)
  for _, text in ipairs { "", "[1,", "{\"a\"}", "nul", "01", "1 2", '"\\ud800"', '"\\x"', "[1,]", "\"a\nb\"", "NaN" } do t.fails(function() json.decode(text) end, "at byte") end
  t.fails(function() json.decode(7) end, "takes a text")
  t.fails(function() json.decode(("["):rep(101) .. ("]"):rep(101)) end, "at byte")
  t.expect(json.decode(("["):rep(99) .. ("]"):rep(99)))
  t.fails(function() json.encode(print) end, "json.encode: ")
  t.fails(function() json.encode(0 / 0) end, "json.encode: ")
  t.fails(function() json.encode { [1] = 1, a = 2 } end, "json.encode: ")
  local cycle = {}
  cycle.a = cycle
  t.fails(function() json.encode(cycle) end, "json.encode: ")
end)
LUA
capture json "$scripthost" test json.lua ./shop
ended 'json: texts, kinds and mistakes' json
same 'json: all of it' <(grep -v '^ok' json.out) <(printf '3 tests, 0 failed\n')

# MARK: Tests beside a patch

mkdir -p unit/lib unit/tests
printf 'local money = require "lib.money"\nscale = 2\nmethod "Shop.Cart.total(tax:)":around(function(call) return money.round(call:original()) * scale end)\ntest "in the text itself" (function(t) t.equal(scale, 2) end)\n' >unit/patch.lua
printf 'return { round = function(n) return math.floor(n + 0.5) end }\n' >unit/lib/money.lua
cat >unit/tests/b.lua <<'LUA'
local money = require "lib.money"
test "sees the patch's globals and modules" (function(t)
  t.equal(money.round(1.6) * scale, 4)
  t.equal(t.call(class "Shop.Cart":make(), "total(tax:)", 0.0), 4.0)
end)
LUA
printf 'test "of another file" (function(t) t.equal(scale, 3) end)\n' >unit/tests/a.lua
ln -s /etc/passwd unit/tests/linked.lua
capture unit "$scripthost" test unit ./shop
ended 'a failed test of the directory tests is the status' unit 1
says 'tests of the text' unit.out 'ok      in the text itself'
says 'tests of a file see the globals and modules of the patch' unit.out "ok      sees the patch's globals and modules"
says 'a failed one has its place' unit.out 'tests/a.lua:1: expected 3, found 2'
check 'text first, then the files by name' [ "$(grep -o 'in the text\|of another\|sees the' unit.out | tr '\n' ' ')" = 'in the text of another sees the ' ]
capture unitjson "$scripthost" test --json unit ./shop
says 'JSON tells the file' unitjson.out '"test":"of another file","file":"tests/a.lua","line":1'
capture unitcheck "$scripthost" check unit ./shop
ended 'the checker reads patch, modules and tests, which share their globals' unitcheck
printf 'prnt(scale)\n' >unit/tests/a.lua
capture unitbad "$scripthost" check unit ./shop
says 'a mistake in a test has its place' unitbad.out "unit/tests/a.lua:1:1: unknown global 'prnt'; did you mean 'print'?"
capture unittest "$scripthost" test unit ./shop
ended 'a test file that fails refuses the patch' unittest 1
says 'with its place' unittest.err 'tests/a.lua:1:'
capture unitrun "$scripthost" run --state state --patches unit -- ./shop
ended 'a run reads no tests' unitrun
if grep -aF 'tests/' unitrun.err >told; then bad 'and tells nothing of them' "$(head -n 3 told)"; else good 'and tells nothing of them'; fi

# A handler of a module has the module's name.
mkdir -p modular/lib
printf 'local lib = require "lib.acts"\ntest "calls it" (function(t) t.call(class "Shop.Cart":make(), "total(tax:)", 0.0) return lib end)\n' >modular/patch.lua
printf 'method "Shop.Cart.total(tax:)":around(function(call)\n  call.args.tax = true\n  return "text"\nend)\nreturn {}\n' >modular/lib/acts.lua
capture modular "$scripthost" test modular ./shop
says 'a handler of a module that fails has the file it stands in' modular.out 'lib/acts.lua:'

# MARK: New patches

capture new "$scripthost" new patch fresh ./shop 'Shop.Cart.total(tax:)'
ended 'a new patch is written' new
capture newrule "$scripthost" new rule seen ./shop 'Shop.Cart.add(_:price:quantity:)'
ended 'a new rule is written' newrule
says 'with the fields that paths may go on with' seen.lua '-- self has title, lines'
capture newset "$scripthost" new -o - patch named ./shop 'Shop.Cart.title.set'
says 'a setter has no result' newset.out '-- Shop.Cart.title.set(_: String)'
# Of what a trace showed, as it was copied.
"$scripthost" trace --state state -o traced.lines -e 'Shop.Cart.*' -- ./shop >/dev/null 2>&1 || true
"$scripthost" trace --state state --format json -o traced.json -e 'Shop.Cart.*' -- ./shop >/dev/null 2>&1 || true
capture pasted "$scripthost" new rule pasted ./shop "$(grep -m 1 'Cart\.add(' traced.lines)"
ended 'a new rule is written for a line of a trace' pasted
says 'it is for the function of the line' pasted.lua 'on = "Shop.Cart.add(_:price:quantity:)"'
capture pasted "$scripthost" new rule object ./shop "$(grep -m 1 'Cart\.add(' traced.json)"
says 'and so for a line in JSON' object.lua 'on = "Shop.Cart.add(_:price:quantity:)"'
capture line "$scripthost" new rule none ./shop '2.0 us    Cart.ad("tea", price: 1) -> 1'
ended 'a line of no function of the program is refused' line 1
for name in fresh seen pasted; do
  capture check "$scripthost" check --strict $name.lua ./shop
  ended "$name: the checker finds nothing" check
  capture test "$scripthost" test $name.lua ./shop
  ended "$name: its test passes" test
  capture run "$scripthost" run --state state --patches $name.lua -- ./shop
  same_run "$name: the program runs as before" alone run
done
capture again "$scripthost" new patch fresh ./shop 'Shop.Cart.total(tax:)'
ended 'a file that is there is kept' again 126
capture near "$scripthost" new patch other ./shop 'Shop.Cart.totl(tax:)'
says 'a misspelt selector names the nearest' near.err "did you mean 'total(tax:)'?"
capture format "$scripthost" new -o - patch banner swift-format 'SwiftFormat.PrettyPrinter.prettyPrint()'
capture typed "$scripthost" new patch typed swift-format 'SwiftFormat.SwiftLinter.lint(contentsOf: URL, parsingDiagnosticHandler: ((Diagnostic, SourceLocation) -> ())?)'
ended 'a new patch is written for one of several overloads' typed
capture test "$scripthost" test typed.lua swift-format
ended 'its test passes, which spells the types' test
says 'on a program nobody here wrote' format.out 'method "SwiftFormat.PrettyPrinter.prettyPrint()":around(function(call)'

# MARK: Stubs for editors

capture stubs "$scripthost" stubs -o stubs ./shop
ended 'stubs are written' stubs
capture parsed "$scripthost" check stubs/scripthost.lua
check 'the names of the host are Lua' [ "$(grep -vc warning parsed.out)" -eq 0 ]
says 'methods have parameters' stubs/scripthost.lua 'function Method:around(handler, options) end'
capture more "$scripthost" stubs -o stubs plutil
ended 'stubs of a program nobody here wrote' more
says 'its types' stubs/plutil.lua '---@class plutil.PrintCommand'
check 'no selector is there twice' [ -z "$(grep '^---| ' stubs/plutil.lua | sort | uniq -d)" ]
says "a test's functions stand behind a dot" stubs/scripthost.lua 'function Test.equal(found, expected, why) end'
capture onefile "$scripthost" stubs -o stubs.lua ./shop
ended 'stubs are two files, which one name cannot be' onefile 2
check 'no directory is made of it' [ ! -e stubs.lua ]

finish
