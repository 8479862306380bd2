patch { id = "getters", api = 1 }

-- As the program says it itself.
local function said(name, text)
  return function(call)
    local outcome
    if call.error ~= nil then outcome = "threw " .. tostring(call.error)
    elseif text then outcome = "returned " .. text(call.result)
    else outcome = "returned " .. tostring(call.result) end
    print("SAW " .. name .. " " .. outcome)
  end
end

local function field(box) return box.text end
local function void() return "()" end
local function maybe(value) return value == nil and "nil" or value end

for _, type in ipairs { "Shelf", "Counter", "Plain" } do
  for _, name in ipairs { "stock", "price", "label" } do
    if type ~= "Plain" or name ~= "label" then method("MODULE." .. type .. "." .. name .. ".get"):after(said(type .. "." .. name)) end
  end
end
for name, text in pairs { caught = false, box = field, boxOrError = field, nothing = void, flag = false, maybe = maybe } do
  method("MODULE.Counter." .. name .. ".get"):after(said("Counter." .. name, text or nil))
end
method("static MODULE.Counter.shared.get"):after(said "Counter.shared")
method("MODULE.Typed.code.get"):after(said "Typed.code")
