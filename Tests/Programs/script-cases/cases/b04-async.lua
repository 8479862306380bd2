-- B4: async functions before, around and after; a handler that waits calls async functions, in coroutines of its own, too.
method "Kinds.later(_:)":before(function(call, n) call.args[1] = n + 10 end)
method "Kinds.later(_:)":around(function(call, n)
  local first = call:original()
  local second = swift.call("Kinds.laterOrThrow(_:)", n)
  print("later", n, first, second)
  return first * 2
end)
method "Kinds.later(_:)":after(function(call) print("after later", call.result) end)
method "Kinds.laterOrThrow(_:)":around(function(call, n)
  local ok, result = call:try()
  if ok then return result end
  -- Coroutines of the script's own go on beside what waits.
  local co = coroutine.wrap(function(a)
    local b = coroutine.yield(a + 1)
    return b * 2
  end)
  local a = co(1)
  return tostring(result) .. " swallowed " .. a .. " " .. co(20)
end)
-- prints: later	1	12	waited 1
-- prints: after later	24
-- program: later: 24
-- program: laterOrThrow: Wrong.other swallowed 2 40
