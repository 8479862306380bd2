local count = 0
method("Lives.repeated(_:_:)"):before(function(call, rounds, f)
  if rounds == 0 then print("handler ran", count) end
  call.args[2] = function(n) return f(n) end
end)
method("Lives.called(_:)"):before(function(call, f)
  for i = 1, 100 do f(i, "a string that is long enough for the heap") end
end)
method("Lives.wrapped(_:)"):before(function(call, f)
  call.args[1] = function(token) return f(token) + 1 end
end)
method("Lives.failing(_:)"):before(function(call, f)
  call.args[1] = function(s) return f(s .. s) end
end)
method("Lives.shared(_:)"):before(function(call, f)
  call.args[1] = function(n) count = count + n f(n) end
end)
method("Lives.sorted(_:by:)"):before(function(call, names, order)
  call.args.by = function(a, b) return not order(a, b) end
end)
