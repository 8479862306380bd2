patch { id = "corners", version = "1.0.0", api = 1 }
for _, selector in ipairs { "Case.anything(_:)", "Case.marked(_:)" } do
  method(selector):around(function(call) local result = call:original() return result end)
end
local n = 0
method "Case.show(_:)":before(function(call, x)
  n = n + 1
  if n == 3 then call.args[1] = swift.case("a", nil) end
end)
method "Case.unit(_:)":around(function(call, k)
  local r = call:original()
  print("@ unit " .. k .. " " .. tostring(r == nil))
  return r
end)
method "Case.table(_:)":before(function(call, d)
  local ok, why = pcall(function() call.args[1] = { ["e\u{301}"] = 1, ["\u{e9}"] = 2 } end)
  print("@ table " .. tostring(ok) .. " " .. tostring(why))
end)
method "Case.long(_:_:)":before(function(call, s, k)
  -- A text that is longer than a script's may be stays the program's.
  print("@ long " .. type(s) .. " " .. k)
  call.args[2] = k + 1
end)
-- The default is a handle: it is the closure's as well as the script's.
method "Case.poke(_:)":before(function(call, k)
  local size = swift.new("Case.Size", "init(a:b:)", 5, 6)
  local c = swift.closure(function() if k % 2 == 0 then error("no answer") end return 3 end, { default = size })
  local said = swift.call("Case.take(_:)", c)
  if k < 2 then print("@ closure " .. said .. " " .. tostring(size)) end
  local junk = {} for i = 1, 300 do junk[i] = { i } end
end)
method "Case.ask(_:_:)":before(function(call, dog, stone)
  local function is(name) local ok, answer = pcall(swift.is, dog, name) return tostring(answer) end
  print("@ is class " .. is "Case.Dog" .. " protocol " .. is "Case.Speaker" .. " other " .. is "Case.Silent")
end)
local function wrap(word) return function(call) return word .. "<" .. call:super() .. ">" end end
local ran = {}
class.define("Case.First", { super = "Case.Base", methods = { ["name()"] = wrap "First", ["setup(_: Int)"] = function(call, k) ran[#ran + 1] = "First " .. k end } })
local Second = class.define("Case.Second", { super = "Case.First", methods = {
  ["name()"] = wrap "Second",
  ["setup(_: Int)"] = function(call, k) ran[#ran + 1] = "Second " .. k call:super(k) end,
} })
method "Case.start(_:)":before(function(call)
  local b = swift.new(Second)
  swift.call("Case.keep(_:)", b)
  print("@ script " .. b:name())
  local ok, why = pcall(function() b:setup(3) end)
  print("@ setup " .. (ok and table.concat(ran, ", ") or why))
end)
-- What it throws is of a type that is not known here; that it throws is the program's affair.
method("Lib.Pair.f(_:)"):around(function(call, a) return call:original() .. "!" end)
