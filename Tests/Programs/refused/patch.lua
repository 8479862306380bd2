patch { id = "refused", version = "1.0.0", api = 1 }

-- What cannot be is refused with a sentence, and the program goes on with what it had.
local function tried(what, f, ...)
  local ok, problem = pcall(f, ...)
  log.info(what .. ": " .. (ok and "taken" or tostring(problem)))
end
local function animal() return swift.new("Lib.Animal", "init(checked:)", 50) end

method "Lib.Animal.init(_:)":after(function(call) tried("init", function() call.result = animal() end) end)
method "Lib.Animal.same()":after(function(call) tried("same", function() call.result = animal() end) end)
method "Lib.Animal.maybe(_:)":after(function(call) tried("maybe", function() call.result = animal() end) end)
method "Lib.sized(_:_:)":around(function(call, grown, n)
  if n == 2 then call:throw("refused") end
  return call:original()
end)
method "Lib.made(_:)":around(function(call, n)
  if n == 2 then call:throw("refused") end
  return call:original()
end)
method "Case.locked(_:)":before(function(call, mutex) tried("mutex", swift.keep, mutex) tried("mutex passed", swift.call, "Case.locked(_:)", mutex) end)
method "Case.guarded(_:)":before(function(call, value) tried("guarded", swift.keep, value) end)
method "Case.length(_:)":before(function(call, list) tried("list", swift.keep, list) end)
method "Case.odd(_:)":around(function(call, n) call:throw({ text = "lua", number = 5, half = 7, flag = false }) end)
