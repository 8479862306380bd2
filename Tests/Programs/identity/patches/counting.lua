patch { id = "counting", version = "1.0.0", api = 1 }
local calls = 0
method "**":before(function()
  calls = calls + 1
  if calls == 100000 then print("one hundred thousand") end
end)
