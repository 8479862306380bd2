patch { id = "proxies", api = 1 }

local function check(what, ok, found) print((ok and "ok      " or "WRONG   ") .. what .. (ok and "" or ": " .. tostring(found))) end

local first = true
method "Shop.Provider.delegate(for:)":around(function(call, screen)
  if not first then return call:original() end
  first = false
  local name = "scripted"
  local changes = 0
  local made = implement "Shop.CartDelegate" {
    target = screen,
    ["cartDidChange(_:)"] = function(call, cart)
      changes = changes + 1
      check("a requirement gets its arguments", #cart.items == 3 and cart.items[1] == "x", #cart.items)
      call:original()
    end,
    ["cart(_:shouldAdd:times:)"] = function(call, cart, item, times)
      if item == "bad" then call.args.times = 200 end
      return call:original()
    end,
    ["name.get"] = function(call) return name end,
    ["name.set"] = function(call, value) name = value end,
    ["many(_:_:_:_:_:_:_:_:)"] = function(call, a, b, c, d, e, f, g, h) return { a + d + e + f + g, b, #c, #h } end,
    ["maybe(_:)"] = function(call, index) if index > 0 then return "index " .. index end; return nil end,
  }
  check("an object of the program's", tostring(made) == "<ScriptHost.CartDelegateImplementation>", tostring(made))
  check("its properties", made.name == "scripted", made.name)
  check("its methods", made:describe() == "screen main", "?")
  return made
end)

local seen = {}
local watch = delegates "Shop.Cart.delegate" {
  ["cartDidChange(_:)"] = function(call, cart) seen[#seen + 1] = "changed " .. #cart.items end,
  ["cart(_:shouldAdd:times:)"] = function(call, cart, item, times)
    seen[#seen + 1] = "should " .. item .. " " .. times
    if #seen == 1 then check("a watched call's self is the delegate", tostring(call.self) == "<ScriptHost.CartDelegateImplementation>", tostring(call.self)) end
  end,
}
check("how they are seen", watch:explain():find("a proxy in the property", 1, true) ~= nil, watch:explain())

local finished = false
method "Shop.Screen.init(_:)":before(function(call, name)
  if name == "round" and not finished then
    finished = true
    local found = table.concat(seen, ", ")
    check("watched calls", found == "should x 3, changed 3, should bad 1, should y 1, changed 4, should watched 2, changed 2, should watched 2, changed 4, should watched 2, changed 6, should watched 200", found)
    check("a watch is removed", watch:remove() == true and watch:remove() == false, "?")
  end
end)
