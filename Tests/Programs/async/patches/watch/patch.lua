-- Looks at everything in all three positions and changes nothing.
patch { id = "watch", api = 1 }

local seen = {}
local order = {}
local function count(name, what)
  local all = seen[name]
  if not all then
    all = { before = 0, around = 0, returned = 0, threw = 0, after = 0 }
    seen[name] = all
    order[#order + 1] = name
  end
  all[what] = all[what] + 1
end

local selectors = {
  "ints(_:_:)", "quick(_:)", "text(_:times:)", "mixed(_:_:_:_:)", "big(_:_:)", "bigThrowing(_:)", "many(_:_:_:_:_:_:_:_:_:)",
  "manyBig(_:_:_:_:_:)", "nothing(_:)", "object(_:plus:)", "maybe(_:)", "eaten(_:_:)", "changed(_:by:)", "typed(_:)", "generic(_:_:)",
  "calls(_:)", "fib(_:)", "onMain(_:)", "whereverCalled(_:)", "Shape.init(slowly:)", "Shape.area(_:)", "static Shape.most(_:_:)",
  "Shape.corners.get", "Shape.work(_:)", "Point.far(_:)", "Point.move(_:)", "Account.add(_:)", "Account.calm(_:)", "Countdown.next()",
  "work(_:_:_:)", "sleep(_:)", "waitForCancellation(_:)",
}
for _, name in ipairs(selectors) do
  local selector = name:find("^static ") and ("static Subject." .. name:sub(8)) or ("Subject." .. name)
  method(selector):before(function(call, ...)
    count(name, "before")
    call.ctx.began = select("#", ...)
  end)
  method(selector):around(function(call, ...)
    count(name, "around")
    local ok, result = call:try()
    count(name, ok and "returned" or "threw")
    if not ok then error(result) end
    return result
  end)
  method(selector):after(function(call)
    count(name, "after")
    if not call.ctx.began then print("WRONG no context of " .. name) end
    local _ = tostring(call.result) .. tostring(call.error)
  end)
end

method "Subject.finished(_:)":before(function()
  for _, name in ipairs(order) do
    local all = seen[name]
    print(("%s %d %d %d %d %d"):format(name, all.before, all.around, all.returned, all.threw, all.after))
  end
end)
