-- B5: inout, consuming, borrowing, default arguments, variadics, generic functions and types, actors: handled, or refused with a reason.
method "Kinds.grow(_:by:)":around(function(call, n, by)
  print("grow", n, by)
  call.args.by = 5
  call:original()
  call.args[1] = call.args[1] * 10
end)
method "Kinds.eat(_:)":around(function(call, text)
  print("eat", text)
  return call:original("seven77")
end)
method "Kinds.look(_:)":around(function(call, text) return call:original() + 1 end)
method "Kinds.total(_:)":around(function(call, values)
  print("total", #values, values[3])
  return call:original({ 10, 20, 30, 40 })
end)
local ok, why = pcall(function()
  method "Kinds.same(_:)":before(function(call, value) print("same", tostring(value)) end)
end)
print("generic function", ok, ok or why)
local ok, why = pcall(function()
  method "Kinds.Box.get()":after(function(call) print("box", tostring(call.result)) end)
end)
print("generic type", ok, ok or why)
method "Kinds.Counter.add(_:)":around(function(call, n) return call:original(n + 40) end)
-- prints: grow	1	1
-- prints: eat	four
-- prints: total	3	3
-- prints: same	4
-- program: grow: 60
-- program: eat: 7
-- program: look: 5
-- program: total: 100
-- program: same: 4
-- program: same text: t
-- program: box: 6
-- program: actor: 42
