-- Handlers that call async functions of the program: before the original, after it, instead of it, in any number.
patch { id = "await", api = 1 }

local function same(found, expected, what)
  if found ~= expected then print("WRONG", what, found, expected) end
end

-- Scalars, strings, values in memory, stack arguments, errors.
method "Subject.ints(_:_:)":around(function(call, a, b)
  same(swift.call("Subject.quick(_:)", 41), 42, "quick")
  same(swift.call("Subject.many(_:_:_:_:_:_:_:_:_:)", 1, 2, 3, 4, 5, 6, 7, 8, 9), 285, "many")
  local result = call:original()
  same(swift.call("Subject.text(_:times:)", "ab", 3), "ababab", "text")
  same(swift.call("Subject.fib(_:)", 7), 13, "fib")
  return result
end)
method "Subject.many(_:_:_:_:_:_:_:_:_:)":around(function(call, ...)
  -- Its own call from here is seen by nobody: no handler is below this one.
  same(swift.call("Subject.many(_:_:_:_:_:_:_:_:_:)", 1, 0, 0, 0, 0, 0, 0, 0, 1), 10, "many in many")
  same(swift.call("Subject.nothing(_:)", 1), nil, "nothing")
  return call:original(...)
end)
local seen = 0
method "Subject.nothing(_:)":before(function() seen = seen + 1 end)
method "Subject.text(_:times:)":around(function(call, s, n)
  local ok, problem = pcall(swift.call, "Subject.text(_:times:)", "x", -4)
  same(ok, false, "error passed on")
  local ok, problem = swift.try("Subject.text(_:times:)", "x", -4)
  same(ok, false, "error caught")
  local ok, text = swift.try("Subject.text(_:times:)", "long enough to be allocated ", 3)
  same(text, ("long enough to be allocated "):rep(3), "text")
  return call:original()
end)
method "Subject.maybe(_:)":around(function(call, n)
  same(swift.call("Subject.maybe(_:)", nil), nil, "nil")
  same(swift.call("Subject.maybe(_:)", 3), "number 3 in a string of some length", "some")
  return call:original()
end)
-- Objects: methods, made by async initialisers, of an actor.
method "Subject.Shape.area(_:)":around(function(call, k)
  local shape = swift.new("Subject.Shape", "init(slowly:)", 7)
  same(swift.send(shape, "work(_:)", 8), "worked 8", "method")
  same(swift.send(call.self, "work(_:)", 9), "worked 9", "method of self")
  same(swift.send(shape, "area(_:)", 2), 14, "area")
  same(swift.call("static Subject.Shape.most(_:_:)", 2, 3), 3, "static")
  local ok = swift.try("Subject.Shape.init(slowly:)", -1)
  same(ok, false, "initialiser throws")
  return call:original()
end)
method "Subject.Account.add(_:)":around(function(call, n)
  local result = call:original()
  same(swift.send(call.self, "add(_:)", 10), 15, "actor")
  same(swift.send(call.self, "add(_:)", -10), 5, "actor")
  return result
end)
method "Subject.big(_:_:)":around(function(call, a, s)
  same(tostring(swift.call("Subject.big(_:_:)", 4, "in memory")), 'Big(a: 4, b: 5, c: 6, d: 7, name: "in memory")', "big")
  return call:original()
end)
-- The main actor's caller is back on the main actor.
method "Subject.onMain(_:)":around(function(call, n)
  same(swift.call("Subject.quick(_:)", 1), 2, "from the main actor")
  return call:original()
end)
method "Subject.whereverCalled(_:)":around(function(call, n)
  same(swift.call("Subject.quick(_:)", 1), 2, "from the caller's actor")
  local ok, problem = pcall(swift.call, "Subject.whereverCalled(_:)", 1)
  same(ok, false, "needs an actor")
  return call:original()
end)
-- Instead of the original.
method "Subject.quick(_:)":around(function(call, n)
  return swift.call("Subject.typedFree(_:)", n) + 1
end)
-- Nobody can wait there.
method "Subject.eaten(_:_:)":before(function()
  local ok, problem = pcall(swift.call, "Subject.quick(_:)", 1)
  same(ok, false, "in before")
  if not problem:find("only an 'around' handler", 1, true) then print("WRONG", problem) end
end)
-- In a crowd: each call waits for others.
method "Subject.work(_:_:_:)":around(function(call, n, s)
  same(swift.call("Subject.text(_:times:)", "t" .. n, 2), ("t" .. n):rep(2), "in the crowd")
  local ok, result = call:try()
  same(swift.call("Subject.quick(_:)", n), n + 1, "in the crowd")
  if not ok then error(result) end
  return result
end)
-- Coroutines of the script's own: what waits in one makes all around it wait, and what they yield is what it was.
method "Subject.typed(_:)":around(function(call, n)
  local inner = coroutine.wrap(function(a)
    local b = coroutine.yield(swift.call("Subject.quick(_:)", a))
    local c = coroutine.yield(b * 2)
    return call:original(), c
  end)
  local outer = coroutine.create(function()
    same(inner(1), 2, "yielded after it waited")
    coroutine.yield("between")
    same(inner(10), 20, "yielded")
    return pcall(inner, "last")
  end)
  same(select(2, coroutine.resume(outer)), "between", "yielded by the outer one")
  local ran, ok, result, last = coroutine.resume(outer)
  same(ran, true, "the outer one ran")
  same(coroutine.status(outer), "dead", "and is at its end")
  if not ok then error(result) end
  same(last, "last", "what it was resumed with")
  for each in coroutine.wrap(function() for i = 1, 3 do coroutine.yield(swift.call("Subject.quick(_:)", i)) end end) do last = each end
  same(last, 4, "a generator that waits")
  return result
end)
-- One that waits belongs to its call: others cannot resume it.
local shared
local refused = 0
method "Subject.sleep(_:)":around(function(call, n)
  local result
  if shared then
    local ok, why = coroutine.resume(shared)
    if ok or not why:find("waits for an async function", 1, true) then print("WRONG", "shared", ok, why) end
    refused = refused + 1
    result = call:original()
  else
    shared = coroutine.create(function() return call:original() end)
    local ok
    ok, result = coroutine.resume(shared)
    shared = nil
    same(ok, true, "the shared one")
  end
  return swift.call("Subject.quick(_:)", result - 1)
end)
-- A handler that fails while others wait.
method "Subject.object(_:plus:)":around(function(call)
  swift.call("Subject.nothing(_:)", 1)
  error "after waiting"
end)

method "Subject.finished(_:)":before(function() if seen < 3 or refused == 0 then print("WRONG", "nothing", seen, refused) end end)
