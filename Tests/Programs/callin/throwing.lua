patch { id = "throwing", version = "1.0.0", api = 1 }

-- checks
-- What a script makes each function throw, by the argument: 1, -1 instead of the original; 2, -2 after it; 3, -3 by a handler of
-- its own position; 4 what is no error of that type; 5 nothing.
local made = {
  plain = function() return "two" end,
  nothing = function() return swift.case("two") end,
  loaded = function(n) return { number = n } end,
  words = function(n) return { code = n, text = "made by a script, and longer than fifteen bytes" } end,
  floating = function(n) return { x = n / 2, n = 7 } end,
  inMemory = function(n) return { code = n, text = "made" } end,
  wide = function() return "two" end,
  empty = function() return {} end,
  untyped = function(n) return swift.error("text " .. n) end,
}
-- Large cannot be made from a table without its object: the original's own is changed.
local kept = {}
local function other(name, n) return kept[name] or error("no error kept of " .. name) end

for name, f in pairs(made) do
  method("Throwing." .. name .. "(_:)"):around(function(call, n)
    if n == 5 then return call:original() end
    if n == 4 then
      fails(name .. " is not thrown a closure", function() call:throw(print) end, "expected")
      return call:original()
    end
    if n == 2 or n == -2 then call:try() end
    if n == 3 then return call:original() end
    if n == -3 then
      local ok, e = call:try()
      call:throw(e)
    end
    call:throw(f(n))
  end)
end
for name, position in pairs { ["large(_:)"] = 1, ["laterLarge(_:)"] = 1, ["generic(_:_:_:)"] = 3, ["later(_:)"] = 1, ["Counter.add(_:)"] = 1, ["owned(_:_:)"] = 2 } do
  method("Throwing." .. name):around(function(call, ...)
    local n = select(position, ...)
    if n == -1 then
      -- The original's own error, kept for later calls.
      local ok, e = call:try()
      if not ok then kept[name .. (e.type)] = swift.keep(e) call:throw(e) end
      return e
    end
    if n == 2 or n == -2 then
      local e
      for key, each in pairs(kept) do if key:sub(1, #name) == name and (position ~= 3 or swift.type(select(2, ...)) == each.type) then e = each end end
      if name == "owned(_:_:)" then e = { number = n } end
      if e then call:throw(e) end
    end
    if n == 3 and name == "Counter.add(_:)" then call:throw { code = 3, text = "instead" } end
    if n == 4 then
      fails(name .. " is not thrown another error", function() call:throw(swift.error("text")) end, "expected")
      fails(name .. " is not thrown a number", function() call:throw(4) end, "expected")
    end
    return call:original()
  end)
end
-- What a handler of `after` throws, and a call of another function that throws.
method "Throwing.plain(_:)":after(function(call) if call.args[1] == 3 then call:throw("one") end end)
method "Throwing.words(_:)":before(function(call) fails("before does not throw", function() call:throw { code = 1, text = "" } end, "a 'before' handler cannot throw") end)
method "Throwing.wide(_:)":after(function(call, n) if n == 3 then swift.call("Throwing.plain(_:)", -1) end end)
method "Throwing.settle()":before(function() kept = {} for i = 1, 4 * collectgarbage("count") do local garbage = string.rep("x", 1000) .. i end end)
