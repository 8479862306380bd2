patch { id = "scopes", api = 1 }

-- A member that the class inherits is hooked for it and its subclasses.
local inherited = class "Shop.GiftCart":before("add(_:)", function(call, n) call.args[1] = n + 100 end)
log.info("DESCRIBE " .. inherited:describe())
class "Shop.GiftCart":around("static rate(_:)", function(call, n) return call:original() * 10 end)

-- One object of many.
method "Shop.Cart.init(title:)":after(function(call)
  local cart = call.result
  if cart.title == "hooked" then
    method "Shop.Cart.add(_:)":around(function(call, n) return call:original() + 1000 end, { object = cart, group = "objects" })
  end
  if cart.title == "big" then
    class "Shop.BigCart":after("total(_:)", function(call) log.info("BIG " .. call.result) end, { object = cart })
    for _, wrong in ipairs { "Shop.Cart.total(_:)", "static Shop.Cart.rate(_:)", "Shop.Cart.init(title:)", "Shop.Line.taxed(_:)" } do
      local ok, why = pcall(function() method(wrong):before(function() end, { object = cart }) end)
      log.info("REFUSED " .. tostring(why))
    end
  end
end)

-- Once, and switched.
method "Shop.Cart.total(_:)":before(function(call) log.info("ONCE " .. call.self.title) end, { once = true })
local calls = 0
local switched
switched = method "Shop.Cart.add(_:)":before(function(call, n)
  if call.self.title ~= "plain" then return end
  calls = calls + 1
  log.info("SWITCHED " .. calls)
  if calls == 3 then log.info("DISABLED " .. tostring(switched:disable())) end
end, { priority = 5 })

for what, try in pairs {
  unknown = function() class "Shop.GiftCart":before("ad(_:)", function() end) end,
  struct = function() class "Shop.Line":before("add(_:)", function() end) end,
  object = function() method "Shop.Cart.add(_:)":before(function() end, { object = 7 }) end,
  once = function() method "Shop.Cart.add(_:)":before(function() end, { once = 1 }) end,
} do
  local ok, why = pcall(try)
  log.info("WRONG " .. what .. ": " .. tostring(why))
end
log.info("REMOVED " .. tostring(method "Shop.Cart.title.get":before(function() end):remove()))
for _, each in ipairs(hooks()) do
  log.info(string.format("LISTED %s %s, %s, %s, %s, %d, %s, %s", each.position, each.selector, each.owner, each.scope, each.back_end, each.priority, each.once, each.enabled))
end
