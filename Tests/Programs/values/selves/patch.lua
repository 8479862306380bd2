patch { id = "selves", version = "1.0.0", api = 1 }
for _, selector in ipairs { "Selves.Point.show(_:)", "Selves.Point.move(_:)", "Selves.Point.twice.get", "Selves.Shape.area(_:)" } do
  method(selector):before(function(call) print("@ " .. selector .. " " .. tostring(call.self)) end)
end
