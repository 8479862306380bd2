-- B11: nil first, in the middle and last keeps its position; holes, deep tables, tables that hold themselves.
method "static Kinds.Echo.three(_:_:_:)":around(function(call, a, b, c)
  print("three", a, b, c)
  print("others", call:original(1, nil, 3), call:original(nil, nil, nil), call:original(nil, nil, 9))
  return call:original(nil, nil, 7)
end)
method "static Kinds.Echo.deep(_:)":around(function(call, deep)
  print("deep", #deep, #deep[1], deep[1][2][1])
  return call:original({ { { 10, 20 }, {} }, {}, { { 30 } } })
end)
local ok, why = pcall(swift.call, "static Kinds.Echo.maybes(_:)", { 1, nil, 3 })
print("hole", ok, ok or tostring(why):find("[2]", 1, true) ~= nil)
local own = {}
own[1] = own
print("itself", (pcall(swift.call, "static Kinds.Echo.any(_:)", own)))
-- prints: three	nil	2	nil
-- prints: others	1 -1 3	-1 -1 -1	-1 -1 9
-- prints: deep	2	2	2
-- prints: itself	false
-- program: three of one: -1 -1 7
-- program: deep: 60
