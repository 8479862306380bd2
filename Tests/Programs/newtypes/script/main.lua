patch { id = "newtypes", api = 1 }

local function check(what, ok, found) print((ok and "ok      " or "WRONG   ") .. what .. (ok and "" or ": " .. tostring(found))) end
local function fails(what, text, f, ...)
  local ok, why = pcall(f, ...)
  check(what, not ok and tostring(why):find(text, 1, true) ~= nil, why)
end

local ended = 0
local Fast = class.define("Shop.FastCart", {
  super = "Shop.Cart",
  fields = { visits = 0, label = "a label that does not fit into two words", ratio = 0.5, big = { type = "Shop.BigCart?" } },
  methods = {
    ["total(tax:)"] = function(call, tax)
      call.self.visits = call.self.visits + 1
      return call:super() + tax
    end,
    ["add(_:times:)"] = function(call, item, times)
      if times == -7 then call.args.times = -8 end
      return call:super()
    end,
    ["title.get"] = function(call) return call:super():upper() end,
    ["static kind()"] = function(call) return "scripted" end,
    ["large(_:_:_:_:)"] = function(call, a, b, c, d) return { c, tostring(a + 1) } end,
    -- Added: with types, and without.
    ["discount(for: String, _: Int) -> Double"] = function(call, who, percent)
      if percent > 100 then error("too much for " .. who) end
      return call.self:total(1) * percent / 100
    end,
    ["echo(_:)"] = function(call, value) return value end,
    ["reset()"] = function(call) call.self.visits = 0 end,
  },
  deinit = function(call)
    ended = ended + 1
    if ended == 1 then check("a deinit still has its object", #call.self.label > 6 and call.self.title:find("FIRST") ~= nil, call.self.label) end
  end,
})

local done = false
method "static Main.Factory.make(_:)":around(function(call, title)
  local cart = swift.new(Fast, "init(title:)", title)
  if not done then
    done = true
    check("the class's name", tostring(cart) == "<Shop.FastCart>", tostring(cart))
    check("an added property", cart.visits == 0 and cart.ratio == 0.5 and cart.big == nil, cart.visits)
    cart.label = "changed"
    check("an added property is set", cart.label == "changed", cart.label)
    cart.big = swift.new("Shop.BigCart", "init(title:)", "big")
    check("a property that holds an object", cart.big.size == 10, cart.big)
    check("an added method with types", cart:discount("me", 50) == 0.5, cart:discount("me", 50))
    check("an added method without types: number", cart:echo(7) == 7, cart:echo(7))
    check("an added method without types: text", cart:echo("text") == "text", cart:echo("text"))
    check("an added method without types: nil", cart:echo(nil) == nil, cart:echo(nil))
    check("an added method without types: object", cart:echo(cart) == cart, cart:echo(cart))
    check("an override called from a script", cart:total(3) == 3.0, cart:total(3))
    check("overrides count", cart.visits == 4, cart.visits)
    cart:reset()
    check("an added method without result", cart.visits == 0, cart.visits)
    check("swift.send finds an added method", swift.send(cart, "discount(for:_:)", "me", 10) == 0.1, "?")
    fails("an error in an added method is the caller's", "what answered this call was taken out, or failed", function() cart:discount("you", 101) end)
    fails("wrong arguments", "takes 2 arguments, got 1", function() cart:discount("me") end)
    fails("an unknown member", "has no stored field, property or method 'nothing'", function() return cart.nothing end)
  end
  return cart
end)

check("the class is found by its name", pcall(class, "Shop.FastCart"), "?")
