patch { id = "failures", api = 1 }
-- Fails before the original ran for 2, after it for 3; never comes to an end for 4.
local function fails(call, n)
  if n == 2 then error("refused") end
  local result = call:original()
  if n == 3 then error("too late") end
  while n == 4 do end
  return result
end
method "static Shop.Desk.price(_:)":around(fails, { on_failure = { value = -1 } })
method "static Shop.Desk.label(_:)":around(fails, { on_failure = { value = "a text of more than fifteen bytes" } })
method "static Shop.Desk.load(_:)":around(fails, { on_failure = "throw" })
local function refused(...) print("refused", select(2, pcall(...))) end
local function around(name, options) return method(name).around, method(name), fails, options end
refused(around("static Shop.Desk.price(_:)", { on_failure = "throw" }))
refused(around("static Shop.Desk.price(_:)", { on_failure = { value = "x" } }))
refused(around("static Shop.Desk.price(_:)", { on_failure = { other = 1 } }))
refused(around("static Shop.Desk.price(_:)", { on_busy = "throw" }))
refused(around("static Shop.Desk.note(_:)", { on_failure = { value = 1 } }))
refused(around("static Shop.Desk.later(_:)", { on_failure = { value = 1 } }))
refused(method("static Shop.Desk.price(_:)").before, method "static Shop.Desk.price(_:)", fails, { on_failure = { value = 1 } })
refused(around("static Shop.Desk.later(_:)", { on_busy = "throw" }))
