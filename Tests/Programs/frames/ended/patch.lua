patch { id = "ended", version = "1.0.0", api = 1 }
-- Whatever is kept stays as it was, or says that it has ended: never other memory, and the program never ends of it.
local kept, round = {}, 0

local function keep(kind)
  method("Ended." .. kind .. ".use(_:)"):before(function(call)
    local ok, handle = pcall(swift.keep, call.self)
    if ok then kept[#kept + 1] = { kind = kind, handle = handle, again = swift.keep(handle), weak = swift.weak(handle), tag = call.self.tag } end
  end)
end
for _, kind in ipairs { "Number", "Named", "Loud", "Kept" } do keep(kind) end

-- It is what it was, or the reason is that the object has ended; true for the first.
local function try(each, what, f, want)
  local ok, found = pcall(f)
  if ok and found == want then return true end
  if ok or not (tostring(found):find("has ended this", 1, true) or tostring(found):find("is in its deinit", 1, true)) then
    print("FAIL " .. each.kind .. " " .. what .. ": " .. tostring(found))
  end
  return false
end

method "Ended.later(_:)":before(function(call)
  round = round + 1
  local lives, ended = 0, 0
  for i, each in ipairs(kept) do
    if not try(each, "a number", function() return each.handle.tag end, each.tag) then print("FAIL " .. each.kind .. ": its number is gone") end
    local name = "the name of " .. each.tag .. ", long enough for the heap"
    local isThere = try(each, "a method", function() return each.handle:peek() >= each.tag end, true)
    if each.kind == "Named" or each.kind == "Kept" then try(each, "a text", function() return each.handle.name end, name) end
    if each.kind == "Number" then try(each, "an argument", function() return swift.call("Ended.take(_:)", each.handle) end, each.tag) end
    try(each, "writing", function() each.handle.tag = each.tag return true end, true)
    try(each, "keeping again", function() return swift.keep(each.handle) == each.handle end, true)
    if isThere then lives = lives + 1 else ended = ended + 1 end
    if not isThere and each.weak() ~= nil then print("FAIL " .. each.kind .. ": a weak handle has what is gone") end
    if tostring(each.handle) == "" then print "FAIL" end
  end
  print("@ " .. lives .. " live, " .. ended .. " ended")
  -- Some are let go by hand, the others when nobody has them.
  if round == 3 then for _, each in ipairs(kept) do swift.release(each.handle) end end
  if round == 3 or round == 5 then kept = {} end
end)
