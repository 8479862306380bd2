patch { id = "calls" }
local ways = { "range", "nil", "overflow", "cast", "fatal", "null", "inside", "divide", "overlap", "try", "precondition", "unowned", "wild", "none" }
local till = swift.new("traps.Till", "init()")
-- Each of them while the patch is loaded, which is contained and caught here.
for _, way in ipairs(ways) do
  local ok, answer = pcall(function() return till:trap(way) end)
  print(way, ok, ok and answer or tostring(answer))
end
print("count", till.count)
local open = till:opener()
print("closure", open(1), pcall(function() return open(9) end))
print("secret", pcall(function() return till:enter(77, ("x"):rep(500)) end))
method "static traps.Desk.tick(_:)":before(function(call, n)
  if n == 1 then till:trap("range") end
end)
