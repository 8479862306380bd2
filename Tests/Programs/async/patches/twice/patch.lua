-- Runs the original twice, and thrice: arguments, owned ones too, and results are good each time.
patch { id = "twice", api = 1 }

local function same(a, b)
  if a ~= b then print("WRONG", a, b) end
end
for _, name in ipairs {
  "ints(_:_:)", "quick(_:)", "many(_:_:_:_:_:_:_:_:_:)", "eaten(_:_:)", "onMain(_:)", "Shape.area(_:)", "maybe(_:)", "nothing(_:)",
} do
  method("Subject." .. name):around(function(call)
    local first = call:original()
    local second = call:original()
    same(first, second)
    return call:original()
  end)
end
method "Subject.big(_:_:)":around(function(call)
  local first = tostring(call:original())
  local result = call:original()
  same(first, tostring(result))
  return result
end)
method "Subject.object(_:plus:)":around(function(call, box, n)
  call:original(box, 1000)
  return call:original(box, n)
end)
method "Subject.manyBig(_:_:_:_:_:)":around(function(call, a, b, c, d, e)
  call:original("other arguments the first time", b, c, d, 1)
  return call:original(a, b, c, d, e)
end)
-- Errors between results.
method "Subject.text(_:times:)":around(function(call, s, n)
  local ok = call:try(s, -1)
  same(ok, false)
  local ok, text = call:try("q", 2)
  same(ok, true)
  same(text, "qq")
  local ok, problem = pcall(function() return call:original(s, -5) end)
  same(ok, false)
  return call:original(s, n)
end)
-- Around in around: each run of the outer one is one of the inner one.
local inner = 0
method "Subject.Shape.work(_:)":around(function(call)
  inner = inner + 1
  return call:original()
end)
method "Subject.Shape.work(_:)":around(function(call, n)
  local before = inner
  local ok = call:try(n)
  local first, result = call:try(n)
  same(inner - before, 2)
  same(ok, first)
  if not first then error(result) end
  return result
end)
