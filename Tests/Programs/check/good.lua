-- Everything here is right: a check says nothing of it.
patch { id = "good", version = "1.0.0", api = 1, target = { program = "shop" }, priority = 10, config = { rate = 0.5, names = { "a" } } }

local total = method "Shop.Cart.total(tax:)"
total:around(function(call, tax) return call:original(tax * 2) end, { priority = 3 })
total:around(function(call) local ok, result = call:try() if ok then call.result = result end end)
class "Shop.Cart":before("touch()", function(call) print(call.self.created) end)
class "Shop.Cart":after("static make()", function(call) print(call.result.title) end)
method "Shop.Cart.add(_:price:quantity:)":before(function(call, name, price, quantity)
  call.args[1] = name
  call.args.price = price + quantity
end, { on_busy = "wait" })
method "Shop.Cart.find(_: Int) -> Line?":after(function(call, index) log.info("found", { index = index, type = call.type }) end)
method "Shop.Cart.*":after(function(call, ...) print(call.selector, ...) end)
method("Shop.Later.run()", { wait = true }):before(function() end)
track "added" {
  on = "Shop.Cart.add(_:price:quantity:)", at = "exit",
  fields = { title = "self.title", email = "self.user.email", created = "self.created", name = "args.1", ns = "duration", lines = "self.lines.count", count = "self.count()" },
  where = "self.lines.count > 0", rate = "50/s",
}
observe(class "Shop.Cart", "title", function(change) print(change.old, change.new) end)
local Fast = class.define("FastCart", { super = "Shop.Cart", methods = { ["total(tax:)"] = function(call) return call:super() end } })
local cart = swift.new("FastCart", "init(title:)", "x")
Fast:before("touch()", function() end)
swift.send(cart, "add(_:price:quantity:)", "pear", 1.0, 2)
print(swift.call("Shop.discount(for:)", 3), swift.try(cart, "touch()"), explain "Shop.Cart.total(tax:)")
extend "Shop.Cart" { ["total(tax:)"] = function(call, tax) return call:original(tax * config.rate) end, ["static make()"] = function(call) return call:original() end }
timer.every("5s", function(target) print(target, config.names[1]) end, { target = cart, main = true }):cancel()
notification.on("cart.changed", function(note) print(note.name) end, cart):remove()
local delegate = implement "Shop.CartDelegate" { ["cartDidChange(_:)"] = function(_, cart) print(cart) end }
cart.delegate = delegate
for _, hook in ipairs(hooks()) do print(hook.selector, string.format("%d", hook.calls)) end

span { on = "Shop.Cart.add(_:price:quantity:)", name = "add {args.1}", attributes = { price = "args.price", kind = "'sale'" }, where = "args.quantity > 0", slow = "250ms" }
span { on = "Shop.Base.touch()", name = "purchase", key = "self", ends = { on = "Shop.Cart.total(tax:)", where = "args.tax > 0", attributes = { tax = "args.tax" } } }
metric "totals" { on = "Shop.Cart.total(tax:)", histogram = "duration", by = { "self.title", tax = "args.tax" }, sample = "10%", every = "10s" }
slow { on = "Shop.Cart.*", budget = "50ms", once_per = "self" }
span { on = "Absent.Thing.run()", optional = true, attributes = { a = "self.b" } }
screen { base = "Shop.Cart", during = "total(tax:)", name = "self.title", fields = { lines = "self.lines.count" } }
screen { base = "Shop.CartDelegate", during = "cartDidChange(_:)" }
control { base = "Shop.Cart", send = "add(_:price:quantity:)", action = "args.1", dedupe = "100ms", rage = "3/s" }
exposure { base = "Shop.Cart", frame = "self.created", on = "touch()", optional = true }
guard { "containers", mode = "contain" }
guard { main_thread = { methods = "Shop.Base.touch()" }, zombies = { types = "Shop.*" }, timers = "report", null = true }
test "names" (function(t) t.expect(true) t.equal(t.hooked "Shop.Cart.total(tax:)", true, "hooked") print(t.fails(function() error("x") end, "x")) end)
test "stubs" (function(t) t.stub("Shop.Cart.total(tax:)", 1) t.stub("Shop.Cart.find(_: Int) -> Line?", nil) t.stub("Shop.Cart.total(tax:)", function() return "late" end) end)
observe(class "Shop.Cart", "user.email", function() end)
observe(class "Shop.Cart", "count", function() end)
observe(class "Shop.Cart", "created", function() end)
total:around(function(call) local function f() return "inner" end if f() == "x" then return 1 end return call:original() end, { on_failure = { value = 0.5 }, on_busy = "original" })
store:set("x", 1, { ttl = 5 })
timer.after(0.5, function() end)
track "compared" { on = "Shop.Cart.add(_:price:quantity:)", where = "self.user.email ~= nil and self.title == 'x' or args.price >= 1 or duration > 1ms or self.lines.isEmpty == true or 'x' == args.1" }
for i = 1, 3 do if i == 2 then goto next end local odd = i print(odd) ::next:: end
track "lists" { on = "Shop.Cart.add(_:price:quantity:)", fields = { a = "self.lines.first.name", b = "self.lines.2.price", c = "args.1.count", d = "self.lines.isEmpty", e = "self.title.@type", f = "self.user.email.count" } }
