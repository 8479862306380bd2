-- V1: extend: several members of a type, static ones among them, or none.
local hook = extend "Kinds.Echo" {
  ["static int8(_:)"] = function(call, value) return call:original(value + 1) end,
  ["static int16(_:)"] = function(call, value) return 16 end,
  ["static string(_:)"] = function(call, value) return "extended" end,
}
print(tostring(hook))
print("none", pcall(function() extend "Kinds.Echo" { ["static int32(_:)"] = function() return 0 end, ["static int33(_:)"] = function() end } end))
print(#config, next(config) == nil)
-- prints: hook (3 installed, 0 refused)
-- program: int8: -4
-- program: int16: 16
-- program: int32: -70000
-- program: string: extended
