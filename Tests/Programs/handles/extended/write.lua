patch { id = "extended-write", version = "1.0.0", api = 1 }
method "Extended.one(_:)":after(function(call, n) if n == 1 then call.result = 0.25 end end)
method "Extended.exact(_:)":around(function(call, n) return 8 end)
method "Extended.pair(_:)":around(function(call) local r = call:original() return { r[2], r[1] } end)
method "Extended.mixed(_:)":after(function(call) call.result = { 1, 2, 3 } end)
method "Extended.two(_:)":around(function(call) return { x = 1.25, n = 7 } end)
for name, error in pairs { fails = "now", typed = "b" } do
  method("Extended." .. name .. "(_:)"):around(function(call, n)
    local ok = call:try()
    if not ok then return 17 end
    call:throw(error)
  end)
end
method "Extended.takes(_:_:)":around(function(call, x, y) return swift.call("Extended.takes(_:_:)", call:original(y, x), 4.5) end)
