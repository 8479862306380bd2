-- B12: closures cross both ways, twice, live long enough, end, and are refused after a call that they did not escape from.
local escaped
method "Kinds.apply(_:_:)":around(function(call, n, body)
  escaped = body
  print("apply", body(5), body(6))
  return call:original(n, function(x) return body(x) + 100 end)
end)
method "Kinds.keep(_:)":before(function(call, body)
  print("late", pcall(escaped, 1))
  call.args[1] = function(x) return body(x) + 1 end
end)
method "Kinds.maker(_:)":around(function(call, n)
  local made = call:original()
  return swift.closure(function(x) return made(x) * 2 end, { default = 0 })
end)
method "Kinds.compose(_:_:)":around(function(call, f, g)
  print("compose", f(1), g("x"))
  return call:original(swift.closure(function(x) return f(x) * 10 end, { default = 0 }), swift.closure(function(s) return g(s) .. "?" end, { default = "" }))
end)
-- prints: apply	10	12
-- prints: compose	2	x!
-- program: apply: 106
-- program: kept: [201]
-- program: maker: 22
-- program: compose: 60
