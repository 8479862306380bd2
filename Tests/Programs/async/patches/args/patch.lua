-- Changes arguments before the original, of all kinds and in all places.
patch { id = "args", api = 1 }

local function set(selector, ...)
  local values = table.pack(...)
  method(selector):before(function(call)
    for i = 1, values.n do call.args[i] = values[i] end
  end)
end
set("Subject.ints(_:_:)", 7, 3)
set("Subject.quick(_:)", 50)
set("Subject.text(_:times:)", "xy", 3)
set("Subject.mixed(_:_:_:_:)", 10.25, 0.25, 7, false)
set("Subject.big(_:_:)", 5, "a name that is long enough")
method "Subject.bigThrowing(_:)":around(function(call, n) return call:original(n < 0 and -8 or 8) end)
method "Subject.many(_:_:_:_:_:_:_:_:_:)":around(function(call, ...)
  call.args[7] = 10
  call.args[9] = 97
  local result = call:original()
  -- What came on the stack has moved meanwhile.
  if call.args[7] ~= 10 or call.args[8] ~= select(8, ...) or call.args[9] ~= 97 then print("WRONG arguments after it waited") end
  return result
end)
method "Subject.manyBig(_:_:_:_:_:)":before(function(call)
  call.args[4] = "another string of the heap"
  call.args[5] = 6
end)
method "Subject.object(_:plus:)":around(function(call, box) return call:original(box, 10) end)
method "Subject.maybe(_:)":before(function(call) call.args[1] = nil end)
method "Subject.eaten(_:_:)":before(function(call) call.args[1] = "eaten" end)
method "Subject.changed(_:by:)":before(function(call)
  call.args[1] = 10
  call.args[2] = 5
end)
set("Subject.onMain(_:)", 50)
set("Subject.whereverCalled(_:)", 50)
set("Subject.Shape.area(_:)", 50)
method "Subject.Shape.area(_:)":around(function(call, k)
  if call.ctx.first then return call:original() end
  return call:original()
end)
set("static Subject.Shape.most(_:_:)", 50, 49)
set("Subject.Shape.init(slowly:)", 6)
set("Subject.Shape.work(_:)", 50)
set("Subject.Account.add(_:)", 50)
set("Subject.Account.calm(_:)", 1)
