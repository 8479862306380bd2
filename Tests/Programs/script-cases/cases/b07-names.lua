-- B7: overloads by label and by type, operators, underscores, letters beyond ASCII, nested and private types, one name in two modules.
method "static Kinds.Pick.value(_: Int)":around(function() return "<int>" end)
method "static Kinds.Pick.value(_: String)":around(function() return "<text>" end)
method "static Kinds.Pick.value(at:)":around(function() return "<label>" end)
method "static Other.Pick.value(_:)":around(function() return "<other>" end)
method "static Kinds.Pick.with_under_score(_:)":around(function(call, n) return n + 1 end)
method "Kinds.Pick.Inner.deep()":around(function(call) return "<" .. call:original() .. ">" end)
method "static Kinds.Money.+(_:_:)":around(function(call, a, b)
  print("money", a.cents, b.cents)
  return swift.with(a, { cents = 30 })
end)
method "Kinds.opened(_:)":around(function(call, n) return call:original(n + 1) end)
local ok, why = pcall(method, "static Kinds.Pick.value(_:)")
print("ambiguous", ok and "both" or why:find("Int", 1, true) ~= nil)
local ok, why = pcall(method, "Kinds.Pick.Inner.dep()")
print("near", ok, why:find("did you mean 'deep()'?", 1, true) ~= nil)
print("overloads", #hooks "static Kinds.Pick.value(_: Int)", #hooks "static Kinds.Pick.value(at:)")
-- prints: overloads	1	1
-- prints: money	1	2
-- prints: near	false	true
-- program: value: <int><text><label><other>
-- program: under: 4
-- program: inner: <inner>
-- program: money: 30
-- program: opened: 18
