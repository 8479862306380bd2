patch { id = "answers" }
local till = class "traps.Till"
method "traps.Till.price(_:)":contain { value = -1, limit = 0 }
method "traps.Till.deep(_:_:)":contain(function(call, reason)
  print("reason", reason)
  return -2
end)
method "traps.Till.dive(_:_:)":contain { value = -4, limit = 0 }
till:contain("sell(_:)", { throw = "sold out" })
method "traps.Till.names(_:)":contain { value = { "nobody" } }
method "traps.Till.note(_:)":contain {}
method "traps.Till.outer(_:)":contain { value = -3 }
method "traps.Till.inner(_:)":around(function(call) return call:original() end)
local function refused(what, selector, answer)
  local ok, message = pcall(function() return method(selector):contain(answer) end)
  print("refused", what, ok, tostring(message))
end
refused("async", "traps.Till.later(_:)", { value = 0 })
refused("inout", "traps.Till.put(_:)", {})
refused("init", "traps.Till.init()", { value = till })
refused("type", "traps.Till.price(_:)", { value = "much" })
refused("throw", "traps.Till.price(_:)", { throw = "no" })
refused("two", "traps.Till.price(_:)", { throw = "no", value = 1 })
print(method("traps.Till.put(_:)"):explain())
