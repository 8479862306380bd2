patch { id = "inits", version = "1.0.0", api = 1 }
local calls = {}
local function see(name)
  return function(call) calls[name] = (calls[name] or 0) + 1 end
end
for _, name in ipairs { "init(some:)", "init(checked:)", "deinit" } do
  method("Main.Base." .. name):before(see(name .. " before"))
  method("Main.Base." .. name):after(see(name .. " after"))
end
method("Main.end(_:)"):before(function()
  local lines = {}
  for name, n in pairs(calls) do lines[#lines + 1] = name .. " " .. n end
  table.sort(lines)
  for _, line in ipairs(lines) do print("@ " .. line .. ".") end
end)
