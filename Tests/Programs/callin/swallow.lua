patch { id = "swallow", version = "1.0.0", api = 1 }
-- A value instead of a typed error.
for _, name in ipairs { "plain", "words", "large", "floating", "wide", "empty", "later" } do
  method("Throwing." .. name .. "(_:)"):around(function(call, n)
    local ok, result = call:try()
    if ok then return result end
    return 18
  end)
end
method "Throwing.nothing(_:)":around(function(call) if not call:try() then return nil end end)
method "Throwing.loaded(_:)":after(function(call)
  if call.error then
    call.result = "swallowed"
    print(call.result)
  end
end)
method "Throwing.inMemory(_:)":around(function(call, n)
  local ok, result = call:try()
  return call:original(ok and n or 5)
end)
method "Throwing.owned(_:_:)":around(function(call, owner, n)
  local ok, result = call:try()
  return ok and result or owner
end)
method "Throwing.untyped(_:)":after(function(call) if call.error then call.result = 99 end end)
method "Throwing.settle()":before(function() for i = 1, 4 * collectgarbage("count") do local garbage = string.rep("x", 1000) .. i end end)
