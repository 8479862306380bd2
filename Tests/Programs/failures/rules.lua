patch { id = "rules", api = 1 }
-- What each rule of docs/hooks.md is about; RuleCalls.swift has what the caller gets.
local function fail() error("on purpose") end
local rules = {
  ["fails before the original"] = function(call) call.args[2] = 9; call.args[3] = 99; fail() end,
  ["fails after the original"] = function(call) call:original(); call.args[3] = 99; call.result = 77; fail() end,
  ["gives nothing"] = function(call) call.args[3] = 99 end,
  ["returns after the original"] = function(call) call:original(); call.args[3] = 99; return 5 end,
  ["never runs the original"] = function(call) call.args[3] = 99; return 5 end,
  ["throws after the original"] = function(call) call:original(); call.args[3] = 99; call:throw("ruled") end,
  ["throws before the original"] = function(call) call.args[3] = 99; call:throw("ruled") end,
  ["passes the original's error on"] = function(call) local _, e = call:try(); call.args[3] = 99; error(e) end,
  ["replaces the original's error"] = function(call) call:try(); return 5 end,
  ["runs the original again"] = function(call, rule) call:original(); return call:original(rule, 5, call.args[3]) end,
  ["sets another argument after the original"] = function(call) call:original(); call.args[2] = 9; return call.args[2] end,
  ["reads the result it set before the original runs"] = function(call) call.result = 5; return call.result + 1 end,
  ["sees no error once a result took its place"] = function(call) call:try(); call.result = 5; if call.error then call.result = 7 end end,
  ["sets a result before the original runs"] = function(call) call.result = 77; return call:original() end,
}
method "static HookSubjects.Rules.call(_:_:_:)":around(function(call, rule)
  if rules[rule] then return rules[rule](call, rule) end
  return call:original()
end)
-- The script's own reference goes at once, so that what is left is what calls left behind.
local function replace(call, number)
  local token = swift.new("HookSubjects.Token", "init(_:)", number)
  call.args[2] = token
  swift.release(token)
end
local keeps = {
  ["kept: fails before the original"] = function(call) replace(call, 9); fail() end,
  ["kept: never runs the original"] = function() return 5 end,
  ["kept: throws before the original"] = function(call) call:throw("ruled") end,
  ["kept: runs the original again"] = function(call) return call:original() + call:original() end,
  ["kept: replaces the object"] = function(call) replace(call, 2); return call:original() end,
}
method "static HookSubjects.Rules.keep(_:_:)":around(function(call, rule) return keeps[rule](call) end)
method "HookSubjects.Basket.label(_:)":around(function(call)
  call:original()
  return ("%s %d"):format(call.self.name, #call.self.lines)
end)
local nested = method "static HookSubjects.Rules.nested(_:_:)"
nested:before(function(call, n) call.args[1] = n + 1; call.args[2] = "another text of more than fifteen bytes" end)
nested:around(function(call)
  local inside = call:original()
  return ("%s, outside %d %s"):format(inside, call.args[1], call.args[2])
end)
