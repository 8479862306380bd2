-- Handlers that fail, before and after they waited: the program does not notice.
patch { id = "failing", api = 1 }

method "Subject.ints(_:_:)":around(function(call) error "before the original" end)
method "Subject.quick(_:)":around(function(call)
  call:original()
  error "after the original"
end)
method "Subject.many(_:_:_:_:_:_:_:_:_:)":around(function(call)
  call.args[9] = 1000
  error "with a changed argument"
end)
method "Subject.big(_:_:)":around(function(call)
  call:original()
  return 5
end)
method "Subject.text(_:times:)":around(function(call)
  call:try()
  while true do end
end)
method "Subject.object(_:plus:)":around(function(call)
  -- In a coroutine of the script's own, after it waited.
  local co = coroutine.wrap(function() error(call:original() and "after the original" or "no result") end)
  return co()
end)
method "Subject.maybe(_:)":around(function(call)
  -- A function that Lua's library calls cannot wait, nor what runs in it.
  table.sort({ 1, 2 }, function() return coroutine.wrap(function() return call:original() end)() end)
end)
local kept
method "Subject.onMain(_:)":around(function(call)
  kept = call
  local result = call:original()
  if kept.args[1] ~= 1 then print("WRONG call after it waited") end
  return result
end)
method "Subject.whereverCalled(_:)":around(function(call)
  -- The other call is over.
  if pcall(function() return kept.args[1] end) then print("WRONG call is not over") end
  return call:original()
end)
method "Subject.Shape.area(_:)":after(function() error "in after" end)
method "Subject.Point.far(_:)":before(function() error "in before" end)
method "Subject.work(_:_:_:)":around(function(call, n)
  if n % 2 == 0 then error "every other" end
  return call:original()
end)
