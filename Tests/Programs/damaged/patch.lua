patch { id = "reads" }
-- Everything that follows what the program's metadata says.
method "Shop.run(_:_:)":before(function(call, cart, kind)
  local function try(f) pcall(f) end
  try(function() for _, line in ipairs(cart.lines) do log.info(line.name, { cents = line.cents, text = tostring(line) }) end end)
  try(function() log.info(tostring(cart), { lines = cart.lines, kind = tostring(kind) }) end)
  try(function() log.info(cart:total(0.1), { priced = swift.is(cart, "Shop.Priced") }) end)
  try(function() swift.new("Shop.Cart") end)
  try(function() observe(cart, "lines", function() end) end)
  try(function() cart.lines = cart.lines end)
end)
pcall(function()
  method "Shop.Line.twice()":after(function(call) log.info("twice", { result = tostring(call.result), self = call.self }) end)
end)
pcall(function() track "total" { on = "Shop.Cart.total(tax:)", fields = { lines = "self.lines.count", result = "result" } } end)
