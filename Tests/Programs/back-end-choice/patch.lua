patch { id = "chosen", version = "1.0.0", api = 1 }
local function tell(what) return function() print(what) end end

print(method("Kit.Plain.quiet()"):before(tell "a plain one"):describe())
print(method("Kit.Calm.rest()"):before(tell "calm"):describe())
-- By its own name, for the subclass alone.
print(class("Kit.Heir"):before("quiet()", tell "a subclass"):describe())
print(class("Kit.SelflessHeir"):before("shift(_:)", function(call) call.args[1] = 100 end):describe())
local _, why = pcall(function() method("Kit.Plain.fixed()"):before(tell "never") end)
print(why)
-- A back end that was asked for is not given up for another one.
_, why = pcall(function() method("Kit.Plain.quiet()"):before(tell "never", { by = "entry" }) end)
print(why)
method("Kit.Plain.qu*"):before(tell "never", { by = "entry" })
method("Twins.Left.turn(_:)"):before(tell "a left one")
print(method("Twins.Right.turn(_:)"):before(tell "a right one"):describe())
method("main.keep(_:)"):before(function(call, plain)
  print(method("Kit.Plain.quiet()"):before(tell "this one", { object = plain }):describe())
end)
