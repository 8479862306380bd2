patch { id = "changes", version = "1", api = 1 }

local function show(call)
  local a = call.args
  return ("%s '%s' %s %s %s %s %s %s %s"):format(a[1], a[2], a[3].a, a[3].b, a[4], a[5], a[6], a[7], a.wide)
end
local rounds = {
  function(call) call.args[1] = 10 call.args[2] = "short" call.args.small = -8 error("on purpose") end,
  function(call)
    local a = call.args
    a[1] = 10 a[2] = "short" a[4] = 1 a[5] = 1.5 a[6] = true a.small = -128 a.wide = 9
    print("staged", show(call))
    return call:original()
  end,
  function(call)  -- bits first, then what is more
    local a = call.args
    a[1] = 10 a[2] = "" a.small = 127
    a[3] = { a = 5, b = "made of a table" }
    a[4] = 2.5 a[2] = "a text that is too long for two words"
    print("staged", show(call))
    return call:original()
  end,
  function(call)  -- the other way round
    local a = call.args
    a[3] = { a = 5, b = "made of a table" }
    a[1] = 10 a.wide = 11 a[2] = "é"
    print("staged", show(call))
    return call:original()
  end,
  function(call) call.args[1] = 10 call.args[2] = "short" print("instead", show(call)) return 99 end,
  function(call)
    call.args[1] = 10
    local first = call:original()
    local a = call.args
    return first + call:original(20, a[2], a[3], a[4], a[5], a[6], 4, a.wide)
  end,
  function(call)  -- too late
    local result = call:original()
    local _, why = pcall(function() call.args[1] = 10 end)
    print("after", (why:gsub("^.-: ", "", 1)))
    print("after", show(call))
    return result
  end,
  function(call)
    for _, try in ipairs { { 7, 300 }, { 7, -129 }, { 8, -1 }, { 1, 1.5 }, { 1, "x" }, { 6, 1 }, { 4, true }, { 2, 5 }, { 1, nil } } do
      local ok, why = pcall(function() call.args[try[1]] = try[2] end)
      print(ok, (why:gsub("^.-: ", "", 1)))
    end
    return call:original()
  end,
  function(call) return call:original(6, "all anew", { a = 7, b = "a pair" }, 1, 2, true, 5, 8) end,
  function(call) call.args[1] = 10 local ok = pcall(call.original, call, 6, "x", 5, 1, 2, true, 5, 8) print(ok, show(call)) return call:original() end,
  function(call) local p = call.args[3] call.args[1] = 10 print(p.a, p.b) call.args[3] = p return call:original() end,
  function(call) call.args[1] = 1.0 call.args[8] = 1 << 40 return call:original() end,
  function(call) local kept = call.args call.ctx.args = kept kept[1] = 10 return call:original() end,
  function(call) call.args[2] = "fifteen bytes.." return call:original() end,
}
local round = 0
local mix = method "static Changes.Mix.mix(_:_:_:_:_:_:small:wide:)"
mix:around(function(call) round = round + 1 return rounds[round](call) end)
-- Outside of it: sees what was passed, and what came back.
mix:after(function(call) print("outside", call.args[1], call.args[2], call.args.small, call.result) end)
