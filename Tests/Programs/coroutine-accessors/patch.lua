-- What is yielded, by accessor: one line for each distinct value, in order.
patch { id = "yields", api = 1 }

local function text(value)
  if type(value) == "userdata" then return tostring(value) end
  return tostring(value)
end

local seen = {}
local function watch(name)
  local entered = 0
  method(name):before(function(call) entered = entered + 1 end)
  method(name):after(function(call)
    seen[name] = (seen[name] or 0) + 1
    if seen[name] <= 4 then print(("YIELD %s %s %s"):format(name, seen[name] == entered and "in step" or "OUT OF STEP", text(call.result))) end
  end)
end

for _, name in ipairs { "title", "mix", "wide", "pair", "any", "subscript(_:)" } do
  for _, form in ipairs { "read", "modify" } do
    if name ~= "any" or form == "read" then watch("Shelf.Shelf." .. name .. "." .. form) end
  end
end
watch "Shelf.Shelf.count.modify"
watch "Shelf.Basket.items.modify"
watch "Shelf.Basket.items.read"
watch "Shelf.Box.inside.modify"
watch "Shelf.Box.inside.read"
