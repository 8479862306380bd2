patch { id = "denied", version = "1.0.0", api = 1 }
local function tell(call) print("call of " .. call.selector) end

-- None of these is too short: nothing at all can be written.
print(method("Twins.Left.turn(_:)"):before(tell):describe())
print(method("Twins.Right.*(_:)"):before(tell):describe())
local _, why = pcall(function() method("main.keep(_:)"):before(tell) end)
print(why)
_, why = pcall(function() method("Twins.Left.turn(_:)"):before(tell, { by = "entry" }) end)
print(why)
for line in method("Twins.Left.turn(_:)"):explain():gmatch("[^\n]+") do
  if line:find("hookable") or line:find("chosen") or line:find("by entry") then print(line) end
end
