patch { id = "replacing", api = 1 }
method("MODULE.Counter.price.get"):after(function(call) call.result = 99 end)
method("MODULE.Counter.label.get"):around(function(call) call:original() return "another, and a long one at that" end)
method("MODULE.Typed.code.get"):after(function(call) if call.error ~= nil then call.result = 5 end end)
