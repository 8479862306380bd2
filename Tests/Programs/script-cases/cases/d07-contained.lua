-- D7: loops, recursion, huge texts, patterns, odd error objects, and pcall around them: the handler is stopped, the original runs.
local function around(name, body) method("static Kinds.Echo." .. name .. "(_:)"):around(body) end
around("int8", function() while true do end end)
around("int16", function() local function f() return 1 + f() end return f() end)
around("int32", function() return #("x"):rep(1 << 30) end)
around("int64", function() return ("a"):rep(20000):find(("a*"):rep(30) .. "b") end)
around("int", function() error({ code = 1 }) end)
around("uint8", function() error(nil) end)
around("uint16", function() error(setmetatable({}, { __tostring = function() error "in tostring" end })) end)
around("uint32", function() while true do pcall(function() while true do end end) end end)
around("uint64", function()
  setmetatable({}, { __gc = function() error "in a finaliser" end })
end)
around("bool", function() local t = {} while true do t[#t + 1] = { t } end end)
around("float", function(call) return call:original() end)
print "loaded"
-- prints: loaded
-- told: :3: stopped:
-- told: :6: stopped:
-- told: :10: stopped:
-- told: stopped: uses more than
-- told: error object is a table value
-- told: error object is nil
-- told: '__gc' is not available to scripts
-- told: resulting string too large
-- program: int8: -5
-- program: int16: -500
-- program: int32: -70000
-- program: int64: 9223372036854775807
-- program: int: -9223372036854775808
-- program: uint8: 200
-- program: uint16: 60000
-- program: uint32: 4000000000
-- program: uint64: 18446744073709551615
-- program: bool: true
-- program: float: 1.5
