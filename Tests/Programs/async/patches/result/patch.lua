-- Replaces results after the original, swallows errors.
patch { id = "result", api = 1 }

local function negate(selector)
  method(selector):after(function(call) call.result = -call.result end)
end
for _, name in ipairs {
  "ints(_:_:)", "quick(_:)", "many(_:_:_:_:_:_:_:_:_:)", "eaten(_:_:)", "changed(_:by:)", "onMain(_:)", "Shape.area(_:)", "Point.far(_:)",
  "Point.move(_:)", "Account.add(_:)",
} do negate("Subject." .. name) end
negate "static Subject.Shape.most(_:_:)"

-- Around, after the original was awaited.
method "Subject.calls(_:)":around(function(call) return call:original() end)
method "Subject.text(_:times:)":around(function(call)
  local ok, text = call:try()
  if not ok then return "swallowed" end
  return text:upper()
end)
method "Subject.Shape.work(_:)":after(function(call)
  if call.error then call.result = "swallowed" else call.result = call.result:upper() end
end)
method "Subject.object(_:plus:)":after(function(call) call.result = call.args[1] end)
method "Subject.maybe(_:)":after(function(call) call.result = call.result == nil and "something" or nil end)
