-- What 'implement' and 'delegates' do not take, each told with its place.
patch { id = "refusals", api = 1 }

local function refused(what, f, ...)
  local given = table.pack(...)
  local ok, why = pcall(function() return f(table.unpack(given, 1, given.n)) end)
  print("REFUSED " .. what .. ": " .. (ok and "WRONG: nothing was refused" or tostring(why)))
end
local function none() end
local neutral = { ["name.get"] = none, ["describe()"] = none, ["cart(_:shouldAdd:times:)"] = none, ["many(_:_:_:_:_:_:_:_:)"] = none, ["subscript(_:).get"] = none }
local function with(name, value)
  local all = { [name] = value }
  for each, f in pairs(neutral) do all[each] = f end
  return all
end

refused("no protocol", implement)
refused("a protocol of a wrong type", implement, 7)
refused("a protocol that is not there", implement "Shop.CartDelegat", {})
refused("a class", implement "Shop.Screen", {})
refused("no table", implement "Shop.CartDelegate", 7)
refused("a requirement that is not there", implement "Shop.CartDelegate", { ["cartDidChang(_:)"] = none })
refused("a requirement that is far off", implement "Shop.CartDelegate", { ["nothing"] = none })
refused("a requirement that is no function", implement "Shop.CartDelegate", { ["cartDidChange(_:)"] = 7 })
refused("a requirement without a name", implement "Shop.CartDelegate", { none })
refused("a value that nobody returns", implement "Shop.CartDelegate", {})
refused("a target that is no object", implement "Shop.CartDelegate", with("target", 7))
refused("a weak that is no bool", implement "Shop.CartDelegate", with("weak", "yes"))
refused("a protocol of values", implement "Shop.Loose", {})
refused("an associated type", implement "Shop.Holder", {})
refused("Self", implement "Shop.Comparing", {})
refused("static requirements", implement "Shop.Making", {})
refused("one conforming type", implement "Shop.Inner", {})
refused("one of several that is not there", implement { "Shop.CartDelegate", "Shop.Nothing" }, {})

refused("no property", delegates)
refused("a property that is not there", delegates "Shop.Cart.delegat", {})
refused("a method", delegates "Shop.Cart.add(_:times:)", {})
refused("a property that is no delegate", delegates "Shop.Screen.name", {})
refused("no table", delegates "Shop.Cart.delegate", 7)
refused("a requirement that delegates lack", delegates "Shop.Cart.delegate", { ["cartDidChang(_:)"] = none })
refused("a requirement that is no function", delegates "Shop.Cart.delegate", { ["cartDidChange(_:)"] = 7 })
refused("an option", delegates "Shop.Cart.delegate", { weak = true })
local watch = delegates "Shop.Cart.delegate" {}
refused("an owner that is none", watch.adopt, watch, 7)
watch:remove()
