#!/usr/bin/env bash
# Objects that conform to protocols at run time, and watched delegates, from Swift and from scripts; the module compiled by
# itself at -Onone and at -O.
# PROXIES_ROUNDS: rounds of the checks of leaks (default 20000).
. "$(dirname "${BASH_SOURCE[0]}")/../support/checks.sh"
. "$(dirname "${BASH_SOURCE[0]}")/../support/newtypes.sh"

cd "$work"
at_both_levels "${PROXIES_ROUNDS:-20000}" 8

# A policy that denies a requirement keeps its calls from being seen, whatever property the delegate is in.
printf 'policy {\n  selectors = { deny = { "Shop.CartDelegate.cartDidChange(_:)" } },\n}\n' >policy.lua
cat >denied.lua <<'LUA'
patch { id = "denied" }
print("denied", pcall(function() delegates "Shop.Cart.delegate" { ["cartDidChange(_:)"] = function() end } end))
print("rule", pcall(delegate, { on = "Shop.Cart.delegate", call = "cartDidChange(_:)" }))
print("other", pcall(function() delegates "Shop.Cart.delegate" { ["cart(_:shouldAdd:times:)"] = function() end } end))
LUA
capture denied timeout 60 "$scripthost" run -v --state state-denied --policy policy.lua --patches denied.lua -- ./scripted 20
says 'a denied requirement is not watched' denied.err $'denied\tfalse\tdenied.lua:2:'
says 'nor recorded by a rule' denied.err $'rule\tfalse\t'
check 'both with the line of the policy' [ "$(grep -c 'policy.lua:2: selectors.deny has "Shop.CartDelegate.cartDidChange(_:)"' denied.err)" = 2 ]
says 'others are' denied.err $'other\ttrue'
finish
