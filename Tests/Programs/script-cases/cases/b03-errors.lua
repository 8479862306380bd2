-- B3: errors pass through, are replaced, are swallowed with a value, and are raised by handlers; the program's defer blocks run.
local seen = 0
method "Kinds.check(_:)":around(function(call, n)
  seen = seen + 1
  local ok, result = call:try()
  if not ok then
    print("check", tostring(result), call.error ~= nil)
    return 1000
  end
  call:throw "made by a script"
end)
local caught
method "Kinds.typed(_:)":around(function(call, n)
  if n == 50 then call:throw(caught) end
  local ok, result = call:try()
  if ok then return result end
  caught = swift.keep(result)
  call:throw(result)
end)
method "Kinds.typed(_:)":after(function(call)
  print("typed", tostring(call.error))
end, { priority = 1 })
-- prints: check	Wrong.small(…)	true
-- prints: typed	Wrong.small(…)
-- prints: typed	Wrong.small(…)
-- program: check 5: 1000
-- program: check 50: threw made by a script
-- program: typed 5: threw small(5)
-- program: typed 50: threw small(5)
-- program: deferred: 2
