patch { id = "equal", version = "1.0.0", api = 1 }
for _, class in ipairs { "Apple", "Pear", "Base", "Other", "Sub", "Sub2" } do
  method("Equal." .. class .. ".init(n:)"):before(function() print("@ " .. class) end)
  track(class) { on = "Equal." .. class .. ".init(n:)" }
end
for _, class in ipairs { "Left", "Right" } do
  method("Equal." .. class .. ".p.set"):before(function() print("@ " .. class) end)
  track(class) { on = "Equal." .. class .. ".p.set" }
end
