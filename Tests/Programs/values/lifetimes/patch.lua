patch { id = "lifetimes", version = "1.0.0", api = 1 }
-- The function sees the two the other way round; its caller gets the first.
for _, name in ipairs {
  "int", "double", "string", "object", "optional", "words", "large", "optionalLarge", "choice", "chain", "tuple", "tupleInMemory", "array",
  "dictionary", "set", "existential", "anything", "error", "closure", "consumed", "consumedLarge", "variable", "generic", "later",
} do
  method("Lifetimes." .. name .. "(_:_:)"):around(function(call, a, b)
    call:original(b, a)
    return a
  end)
end
-- An error becomes a result.
method "Lifetimes.throwing(_:_:)":around(function(call, a, b)
  call:try(b, a)
  return a
end)
-- The two are swapped; what is thrown stays.
method "Lifetimes.throwingTyped(_:_:)":before(function(call, a, b) call.args[1], call.args[2] = b, a end)
-- What handles keep alive until they are collected is let go before the program counts its objects.
method "Lifetimes.settle()":before(function()
  local garbage
  for i = 1, 4 * collectgarbage("count") do garbage = string.rep("x", 1000) .. i end
end)
