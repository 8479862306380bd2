patch { id = "lifetimes", version = "1.0.0", api = 1 }
local function longer(s) return s .. " with a tail from the script" end
method "Lifetimes.Item.init(_:name:)":before(function(call, id, name) call.args.name = longer(name) end)
method "Lifetimes.Item.describe(_:_:_:)":around(function(call, prefix, other, limit)
  return longer(call:original(longer(prefix), call.self, nil))
end)
method "Lifetimes.Item.title.get":after(function(call) call.result = longer(call.result) end)
method "Lifetimes.Item.title.set":around(function(call, value)
  call:original(longer(value))
  call:original(longer(value))
end)
method "Lifetimes.Item.subscript(_:).set":before(function(call, value, key)
  call.args[1], call.args[2] = longer(key), longer(value)
end)
method "Lifetimes.Item.subscript(_:).get":around(function(call, key) return longer(key) end)
method "Lifetimes.Item.pick(_:_:)":around(function(call, a, b)
  local ok, item = call:try()
  if not ok then return b end
  call.args[2] = a
  call:try()
  return call:original()
end)
