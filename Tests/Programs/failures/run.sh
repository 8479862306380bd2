#!/usr/bin/env bash
# What calls answer whose handlers fail: the original's result, a value, or an error; before and after the original ran, and out of time.
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
cd "$work"
for level in -Onone -O; do
  compile=(swiftc -swift-version 6 "$level" -wmo -suppress-warnings -I.)
  "${compile[@]}" -parse-as-library -emit-module -emit-object -module-name Shop "$here/Shop.swift" -o Shop.o
  "${compile[@]}" -module-name Main "$here/main.swift" Shop.o -o program
  capture run timeout 60 "$scripthost" run -v --state state --patches "$here/patch.lua" -- ./program
  ended "$level: the program ends well" run
  sed -i 's/^\(load threw patch.lua\):[0-9]*: /\1: /; s/: stopped.*/: stopped/' run.out
  same "$level: callers get what on_failure says" "$here/expected" run.out
  for sentence in "'static Shop.Desk.price(_:)': it cannot throw" 'its result: ' 'on_failure'"' as a table is { value = v }" \
    'it has no result' 'it is async' "is for 'around'" \
    "on_busy = \"throw\" of 'static Shop.Desk.price(_:)': it cannot throw; \"wait\" and \"original\" can be had" \
    "on_busy = \"throw\" of 'static Shop.Desk.later(_:)': it is async"; do
    says "$level: refused: $sentence" run.err "$sentence"
  done
  # The rules of handlers, which hook-cases runs for those of Swift (Tests/Programs/dispatch).
  "${compile[@]}" -parse-as-library -emit-module -emit-object -module-name HookSubjects "$root/Tests/Support/HookSubjects/Rules.swift" -o Rules.o
  echo 'print(brokenRules().joined(separator: "\n"))' >main.swift
  "${compile[@]}" -module-name Calls main.swift "$root/Tests/Support/HookCases/RuleCalls.swift" Rules.o -o calls
  capture rules timeout 60 "$scripthost" run -v --state state --patches "$here/rules.lua" -- ./calls
  ended "$level: the calls of the rules end well" rules
  same "$level: handlers in Lua follow the rules" <(echo) rules.out
  says "$level: the failure says what happened instead" run.err 'the call answers its on_failure value'
done

# MARK: What is said of errors that nobody caught, and of the program's values in records

cat >uncaught.lua <<'LUA'
local cart = swift.new("Shop.Cart", "init()")
cart:checkout()
LUA
capture_loaded load timeout 60 "$scripthost" run --state state --patches uncaught.lua -- ./program
says 'a Swift error that nobody caught at load' load.err 'uncaught.lua:2: a Swift error was not caught: SoldOut.item('
{ printf 'local cart = swift.new("Shop.Cart", "init()")\n'; printf 'coroutine.wrap(function() error(cart) end)()\n'; } >object.lua
capture_loaded object timeout 60 "$scripthost" run --state state --patches object.lua -- ./program
says 'an object that was raised' object.err 'object.lua:2: error object is an object of type Shop.Cart'
printf 'require "none"\n' >module.lua
cat >tests.lua <<'LUA'
test "throws" (function(t) t.call(swift.new("Shop.Cart", "init()"), "checkout()") end)
LUA
capture tests timeout 60 "$scripthost" test tests.lua ./program
says 'a Swift error that nobody caught in a test' tests.out 'tests.lua:1: an error was not caught: SoldOut.item('
printf 'swift.send(swift.new("Shop.Cart", "init()"), "checkout()")\n' | capture console timeout 60 "$scripthost" repl --state state -- ./program
says 'a Swift error that nobody caught in the console' console.out 'a Swift error was not caught: SoldOut.item('
cat >log.lua <<'LUA'
patch { id = "log" }
local hook = method "Shop.Cart.checkout()":after(function(call)
  log.warn("checkout failed", { error = call.error, me = call.self, login = call.self.login, none = swift.null, api_token = call.self })
end)
log.info("hooked", { hook = hook })
log.info("long", { bytes = swift.data(("x"):rep(1000)) })
LUA
capture log timeout 60 "$scripthost" run -v --state state --patches log.lua -- ./program
says 'log shows an error as print does' log.err 'error="SoldOut.item(…)"'
says 'an object' log.err 'me="<Shop.Cart>"'
says 'a value, without its secrets' log.err 'login="Login(name: \"ann\", password: '
check 'no secret is in a record' sh -c '! grep -q sesame log.err'
says 'a secret by its name is none of it' log.err 'api_token='
check 'whatever it is' sh -c '! grep -q "api_token=\"<Shop" log.err'
says 'what is ours' log.err 'hook="hook (1 installed, 0 refused)"'
says 'a long one is cut' log.err 'xxx"… (1000 B)'

# MARK: Members of handles

cat >members.lua <<'LUA'
local hook = method "Shop.Cart.*":before(function() end, { max = 100 })
print("installed", #hook.installed > 2, table.concat(hook.installed, " "):find("Shop.Cart.checkout()", 1, true) ~= nil, #hook.refused)
for _, each in ipairs(hook.refused) do print("refused", each.selector, each.reason) end
print(#method "static Shop.Desk.price(_:)":before(function() end).installed)
print(pcall(function() return hook.instaled end))
print(pcall(function() return (track "t" { on = "Shop.Cart.checkout()" }).calls end))
print(pcall(function() hook.installed = {} end))
hook:remove()
print("removed", #hook.installed)
LUA
capture members timeout 60 "$scripthost" run -v --state state --patches members.lua -- ./program
says 'a glob tells what it hooked' members.err 'installed	true	true	'
says 'so does one function' members.err 'members.lua:4: 1'
says 'a member that is not there: which there are' members.err "'instaled' is no member of a hook; it has installed, refused, remove(), enable(), disable(), describe()"
says 'of what has methods alone, too' members.err "'calls' is no member of a rule; it has remove(), enable(), disable(), info()"
says 'they cannot be set' members.err "'installed' of a hook cannot be set"
says 'what was removed is not installed' members.err 'removed	0'
finish
