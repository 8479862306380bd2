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
count=0
for file in [0-9]*.lua; do
  count=$((count + 1))
  capture check "$scripthost" check "$file" ./shop
  ended "$file: the checker finds no mistake" check
  capture_loaded run timeout 60 "$scripthost" run --state state --patches "$file" -- ./shop
  ended "$file: the program runs on" run
  if grep -aF "$file" run.err >told; then bad "$file: nothing is told against it" "$(head -n 5 told)"; else good "$file: nothing is told against it"; fi
done
check 'there are examples' [ "$count" -ge 20 ]

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

# MARK: New patches

capture new "$scripthost" new patch fresh ./shop 'Shop.Cart.total(tax:)'
ended 'a new patch is written' new
capture newrule "$scripthost" new rule seen ./shop 'Shop.Cart.add(_:price:quantity:)'
ended 'a new rule is written' newrule
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

finish
