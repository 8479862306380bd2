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

-- Values of a library built for evolution are read where they lie.
method "Lib.Shelf.look(_:)":before(function(call)
  local shelf = call.self
  log.info(("evolving: %d %s %d %d %s %s %s"):format(
    #shelf.list, shelf.list[2].text, #shelf.table, #shelf.labels, shelf.single.text, shelf.perhaps.text, shelf.anything.text))
end)
-- What self was is there after the call, where its code leaves it alone.
method "Case.Order.total(_:)":after(function(call) log.info(("order: %d %s %d"):format(call.self.id, call.self.title, #call.self.lines)) end)
-- An Any holds what its readers cast it to.
local turn = 0
method "Case.pay(_:)":around(function(call)
  turn = turn + 1
  local given = call.args[1]
  tried("any table", function() call.args[1] = { 1, 2 } end)
  tried("any number", function() call.args[1] = 7 end)
  tried("any text", function() call.args[1] = "cheque" end)
  call.args[1] = given
  if turn == 2 then call.args[1] = swift.case("card", "9", 9) end
  if turn == 3 then call.args[1] = swift.case("Case.Payment.card", "8", 8) end
  local answer = call:original()
  log.info("paid: " .. answer)
  return turn == 1 and answer or turn == 2 and 'card(number: "1", 2)' or "cash"
end)
local shown = { "5", "text" }
method "Case.show(_:)":around(function(call)
  call.args[1] = { "a", "list" }
  log.info("shown: " .. call:original())
  return table.remove(shown, 1)
end)
