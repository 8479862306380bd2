patch { id = "ends", version = "1.0.0", api = 1 }
local function hook(name, position, handler)
  local ok, why = pcall(function() method(name)[position](method(name), handler) end)
  print(name .. " " .. position .. ": " .. (ok and "hooked" or tostring(why)))
end
hook("Main.stop(_:)", "around", function() end)
hook("Main.stop(_:)", "after", function() end)
hook("Main.stop(_:)", "before", function(call, n) print("before " .. n) end)
hook("Main.fail(_:)", "around", function() end)
hook("Main.die(_:)", "around", function() end)
hook("Main.choose(_:)", "around", function() return 7 end)
