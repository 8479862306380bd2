-- Delegates whose handlers fail in every way: what the target does runs instead, and the program goes on.
patch { id = "errors", api = 1 }

method "Shop.Provider.delegate(for:)":around(function(call, screen)
  if screen.name ~= "bad" then return call:original() end
  return implement "Shop.CartDelegate" {
    target = screen,
    ["cartDidChange(_:)"] = function(call, cart) error("not now") end,
    ["cart(_:shouldAdd:times:)"] = function(call, cart, item, times)
      call:original()
      error("after the original")
    end,
    ["name.get"] = function(call) return 7 end,
    ["describe()"] = function(call) while true do end end,
    ["maybe(_:)"] = function(call, index) return call:original(index, 2) end,
    ["many(_:_:_:_:_:_:_:_:)"] = function(call) return { "a text" } end,
  }
end, { priority = 10 })

delegates "Shop.Cart.delegate" { ["cartDidChange(_:)"] = function(call, cart) if cart.items[1] == "watched" then error("while watching") end end }
