-- A handler on every frame of the program that leads to the mark.
patch { id = "around", version = "1.0.0", api = 1 }
for _, name in ipairs { "outer(_:)", "middle(_:_:)", "inner(_:)", "Walker.walk(_:)", "later(_:)", "turn(_:)", "spin(_:)" } do
  method("traced." .. name):around(function(call, ...) return call:original(...) end)
  method("traced." .. name):before(function(call) return end)
  method("traced." .. name):after(function(call) return call.duration_ns end)
end
