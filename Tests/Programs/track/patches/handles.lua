patch { id = "handles", api = 1 }

local seen = track "seen" { on = "Shop.press(_:)", fields = { name = "args.1" } }
local off = track "off" { on = "Shop.tap(_:at:)" }
off:disable()
local gone = track "gone" { on = "Shop.tap(_:at:)" }
print(tostring(gone), gone:remove(), gone:remove())
local some = track "some" { on = "Shop.tap(_:at:)", where = "args.at == 0" }
local maybe = track "maybe" { on = "Shop.nowhere()", optional = true }
print(maybe:info().hooks)
method "Shop.press(_:)":after(function()
  local i = some:info()
  print(i.name, i.on, i.calls, i.recorded, i.left_out_where)
end)
