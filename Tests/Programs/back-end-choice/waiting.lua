patch { id = "waiting", version = "1.0.0", api = 1 }
local one = method("Late.Thing.hush()", { wait = true }):before(function() print "hushed, by name" end)
local some = method("Late.Thing.*()", { wait = true }):before(function(call) print("called, by pattern: " .. call.selector) end)
track "hush" { on = "Late.Thing.hush()", wait = true }
