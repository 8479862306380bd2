patch { id = "isolated", version = "1.0.0", api = 1 }
for _, name in ipairs { "Window", "View", "Button", "Store" } do
  method("Isolated." .. name .. ".deinit"):before(function(call) print("@ " .. name, tostring(call.self)) end)
  track(name) { on = "Isolated." .. name .. ".deinit" }
end
