patch { id = "frames", version = "1", api = 1 }
-- At -O all that the hooks see here lies in frames; at -Onone nothing does. Each refusal is counted, everything else must work.
local checks, bound, worked = 0, {}, {}
local function is(name, got, want)
  checks = checks + 1
  if got ~= want then print("FAIL " .. name .. ": got " .. tostring(got) .. ", want " .. tostring(want)) end
end
-- Calls f; true when it did what it should, false when that could not be for a frame's sake.
local function try(name, f, ...)
  checks = checks + 1
  local ok, why = pcall(f, ...)
  local counts = ok and worked or bound
  counts[name] = (counts[name] or 0) + 1
  if not ok and not (tostring(why):find("lies in the frame of", 1, true) or tostring(why):find("does not escape", 1, true)) then
    print("FAIL " .. name .. ": " .. tostring(why))
  end
  return ok and why
end
-- What was kept, and what it must be when its frame is gone.
local held, round = {}, 0
local function text(value)
  if value == nil then return "nil" end
  local kind = swift.type(value)
  if kind == "Frames.Box" then return value.name .. text(value.numbers) .. (value.node and value.node.name or "") end
  if not kind:find("^Swift.Array") then return tostring(value) end
  local parts = {}
  for _, each in ipairs(value) do parts[#parts + 1] = type(each) == "userdata" and text(each) or tostring(each) end
  return "[" .. table.concat(parts, ", ") .. "]"
end
local function hold(name, value, text)
  if not value then return end
  -- Once more: the handle's own memory may be the next one's.
  held[#held + 1] = { name = name, value = value, text = text, again = swift.keep(value) }
end

method "Frames.one(_:_:)":around(function(call, n, m)
  round = round + 1
  local kept = try("keep an object", swift.keep, n)
  if kept then hold("object", kept, "<Frames.Node>") end
  is("fields of an object in a frame", n.name, "node " .. round)
  is("its methods", n:shout(), "node " .. round .. "!")
  -- Handed back to a script of its own: borrowed no longer than the call.
  local me = n:me()
  checks = checks + 1
  if pcall(function() return me.name end) then worked.result = (worked.result or 0) + 1 else bound.result = (bound.result or 0) + 1 end
  local weak = swift.weak(n)
  is("a weak handle", weak() == n, true)
  held[#held + 1] = { name = "weak", value = weak, weak = true }
  try("store in a variable", function() swift.call("Frames.store(_:)", n) end)
  try("an argument of another function", function() return swift.call("Frames.length(_:)", n) end)
  try("another argument", function() call.args[1] = m end)
  call.args[1] = n
  call.args[1] = call.args[1]
  is("what it was", call.args[1] == n, true)
  is("lent to another function", swift.call("Frames.length(_:)", swift.lend(m)), #m.name)
  local first = call:original(n, m)
  is("again", call:original(), first)
  return first
end)
method "Frames.maybe(_:)":around(function(call, n)
  try("keep what an Optional holds", swift.keep, n)
  return call:original(n)
end)
method "Frames.pass(_:)":around(function(call, n)
  local result = call:original(n)
  is("an argument that is returned", result == n, true)
  if round % 2 == 0 then return result end
  is("its name", call.result.name, "passed " .. round)
end)
method "Frames.pass(_:)":after(function(call, n) call.result = call.result end)

method "Frames.numbers(_:)":around(function(call, a)
  hold("array", try("keep an array", swift.keep, a), "[" .. round .. ", " .. round + 1 .. "]")
  -- A copy gets a buffer of its own.
  call.args[1] = a
  return call:original(a)
end)
method "Frames.nested(_:)":before(function(call, a)
  hold("nested arrays", try("keep nested arrays", swift.keep, a), "[[" .. round .. ", " .. round .. "], [" .. round .. "]]")
  hold("inner array", try("keep an inner array", swift.keep, a[1]), "[" .. round .. ", " .. round .. "]")
end)
method "Frames.nodes(_:)":before(function(call, a)
  local kept = try("keep an array of objects", swift.keep, a)
  if kept then is("elements", kept[1].name, "listed " .. round) end
end)
method "Frames.box(_:)":around(function(call, b)
  local full = b.name == "full"
  local kept = try(full and "keep a struct with an object" or "keep a struct with an array", swift.keep, b)
  if kept then hold("struct", kept, full and "full[" .. round .. "]boxed " .. round or "plain[" .. round .. ", " .. round .. "]") end
  local changed = try("keep a changed copy", function() return swift.keep(swift.with(b, { name = "changed" })) end)
  local other = swift.with(b, { numbers = { 1, 2, 3 } })
  local ok = try("pass a changed copy", function() call.args[1] = other end)
  local result = call:original()
  return ok ~= false and result - 4 + #b.numbers + round or result
end)
method "Frames.run(_:)":around(function(call, f)
  local text = f(7)
  is("a closure", text, "called " .. round .. (round % 2 == 0 and 7 or 7 + round))
  local kept = try("keep a closure", swift.keep, f)
  if kept then hold("closure", kept, text) end
  held[#held + 1] = { name = "closure without keep", value = f, call = true, text = text }
  return call:original(f)
end)
method "Frames.slowly(_:)":around(function(call, n)
  try("keep an object of a task", swift.keep, n)
  is("its name", n.name, "slow " .. round)
  local result = call:original(n)
  is("afterwards", n.name, "slow " .. round)
  return result
end)
method "Frames.slowNumbers(_:)":around(function(call, a)
  hold("array of a task", try("keep an array of a task", swift.keep, a), "[" .. round .. ", " .. round + 2 .. "]")
  return call:original(a)
end)

-- What cannot be copied is borrowed where it lies, also when it lies in registers and another hook is inside.
method "Frames.ticket(_:_:)":around(function(call, t, n)
  is("a struct that cannot be copied", t.number, round)
  call.args[2] = n + 1
  local result = call:original()
  local after = call.args[1]
  for name, value in pairs(after) do tostring(value) end
  is("afterwards", after.number, round)
  is("its object", after.node.name, "ticket " .. round)
  is("run with another number", result, 2 * round + 1)
  return result - 1
end)
method "Frames.ticket(_:_:)":before(function(call, t, n) is("inside", t.node.name, "ticket " .. round) end)

-- The frames of this round are gone and overwritten.
method "Frames.fill(_:)":before(function(call, shelf)
  -- A variable of an object is read as it is now.
  local box, numbers = shelf.box, shelf.numbers
  shelf.box = nil
  is("what a variable held", box.name .. #box.numbers, "a box with a longer name1")
  shelf.box = swift.with(box, { numbers = { 1 } })
  shelf.numbers = { 1, 2, 3 }
  is("a list as it was", #numbers, round == 1 and 0 or 3)
  for _, each in ipairs(held) do
    if each.weak then
      if each.value() ~= nil and bound.result then print("FAIL a weak handle to what is gone") end
    elseif each.call then
      local ok, text = pcall(each.value, 7)
      if ok then is(each.name, text, each.text) else try("call a closure later", error, text) end
    elseif each.name == "object" then
      is(each.name, tostring(each.value), each.text)
    elseif each.name == "closure" then
      is(each.name, each.again(7), each.text)
    else
      is(each.name, text(each.value), each.text)
      is(each.name .. ", kept again", text(each.again), each.text)
      swift.release(each.again)
      is(each.name .. ", once more", text(each.value), each.text)
    end
  end
  held = {}
  -- Makes the collector come by.
  for n = 1, 2000 do local _ = { {}, {}, tostring(n) } end
  if round < 20 then return end
  local function list(counts)
    local names = {}
    for name, n in pairs(counts) do names[#names + 1] = name .. " " .. n end
    table.sort(names)
    return table.concat(names, "; ")
  end
  print("@ refused: " .. list(bound))
  print("@ worked: " .. list(worked))
  print("@ checks " .. checks)
end)
