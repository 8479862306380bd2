-- What every generated patch does with its functions `F`, by MODE. A value is said as the program would write it, classes
-- as `#id`; `?why?` stands for what cannot be read. Lines: `@` arguments at entry, `&` self, `=` result or error, `%` what a handler
-- could not do.
local function why(problem)
  local text = tostring(problem):gsub("^[%w_/.-]*:%d+: ", ""):gsub("'[^']*'", "'…'")
  return "?" .. text:gsub("[?|\n]", " "):sub(1, 120) .. "?"
end
local function hex(s) return (s:gsub(".", function(c) return string.format("%02x", c:byte()) end)) end
local function double(v) return v ~= v and "nan" or "d" .. string.format("%x", (string.unpack("<i8", string.pack("<d", v)))) end
local say

local function is(v, wanted)
  if type(v) == "userdata" and wanted ~= "userdata" then
    -- A value of which a part is not there is a handle that says so when it is looked into.
    local _, problem = pcall(function() return v.whole end)
    if tostring(problem):find("<optimized out>", 1, true) then error(problem, 0) end
  end
  if type(v) ~= wanted then error("a " .. type(v) .. " where a " .. wanted .. " is expected: " .. tostring(v), 0) end
end
--- Digits of an integer, large ones come as handles.
local function digits(v)
  local text = tostring(v)
  if math.type(v) == "integer" or text:match("^%-?%d+$") then return text end
  error("an integer reads as " .. text:sub(1, 40), 0)
end

local plain = {
  i = function(v) return digits(v) end,
  h = function(v) is(v, "number"); return string.format("h%d", math.tointeger(v)) end,
  x = function(v) is(v, "number"); return string.format("x%d", math.tointeger(v)) end,
  b = function(v) is(v, "boolean"); return tostring(v) end,
  d = function(v) is(v, "number"); return double(v) end,
  f = function(v) is(v, "number"); return v ~= v and "nan" or "f" .. string.format("%x", (string.unpack("<I4", string.pack("<f", v)))) end,
  s = function(v) is(v, "string"); return "s" .. hex(v) end,
  c = function(v) return "#" .. digits(v.id) end,
  void = function(v) return "()" end,
}

local function fields(shape, v)
  local text = {}
  for i = 1, #shape do
    local ok, field = pcall(function() return v[shape[i][1]] end)
    text[i] = ok and say(field, shape[i][2]) or why(field) .. ";"
  end
  return shape.name .. "{" .. table.concat(text) .. "}"
end

local function has_no_bytes(shape)
  if type(shape) ~= "table" or shape.k ~= "struct" then return false end
  for _, field in ipairs(shape) do if not has_no_bytes(field[2]) then return false end end
  return true
end
--- The compiler counts a case whose payload has no bytes among those without one, so that it reads as nil.
local function told(payload, shape)
  if payload == nil and has_no_bytes(shape) then return {} end
  return payload
end

local composed = {
  struct = fields,
  -- Inside a list or a struct's fields, none is `swift.null`.
  opt = function(shape, v) if v == nil or v == swift.null then return "nil" end return say(v, shape[1]):sub(1, -2) end,
  nested = function(shape, v, is_element)
    if v == nil or is_element and v == swift.null then return "nil" end
    -- In a list, what is not none keeps its type; scripts have no way into that.
    if is_element then error("no reading of an Optional in an Optional in a list", 0) end
    return "some{" .. (v == swift.null and "nil;" or say(v, shape[1])) .. "}"
  end,
  array = function(shape, v)
    is(v, "userdata")
    local text = {}
    for i = 1, #v do text[i] = say(v[i], shape[1], true) end
    return "[" .. table.concat(text) .. "]"
  end,
  call = function(shape, v) return say(v(table.unpack(shape.arguments, 1, shape.arguments.n)), shape[1]):sub(1, -2) end,
  boxed = function(shape, v) return say(v.value, shape[1]):sub(1, -2) end,
  tuple = function(shape, v)
    local text = {}
    for i = 1, #shape do text[i] = say(v[i], shape[i]) end
    return "{" .. table.concat(text) .. "}"
  end,
  enum = function(shape, v)
    local name = v.case
    local payload = shape[name] or {}
    if #payload == 0 then return shape.name .. "." .. name end
    local text = {}
    if #payload == 1 then text[1] = say(told(v.payload, payload[1]), payload[1]) else for i = 1, #payload do text[i] = say(v[i], payload[i]) end end
    return shape.name .. "." .. name .. "{" .. table.concat(text) .. "}"
  end,
  dictionary = function(shape, v)
    local keys, text = {}, {}
    for key in pairs(v) do keys[#keys + 1] = key end
    table.sort(keys)
    for i, key in ipairs(keys) do text[i] = say(key, shape[1]) .. say(v[key], shape[2]) end
    return "[" .. table.concat(text) .. "]"
  end,
  set = function(shape, v)
    local list, text = v:table(), {}
    table.sort(list)
    for i = 1, #list do text[i] = say(list[i], shape[1]) end
    return "[" .. table.concat(text) .. "]"
  end,
}
plain.scalar = function(v) is(v, "string"); return "u" .. utf8.codepoint(v) end
plain.static = plain.s
plain.range = function(v) return v.lowerBound .. "..<" .. v.upperBound end
plain.category = function(v) return v.case end
plain.priority = function(v) return "priority" .. v.rawValue end
-- Attoseconds in two words; the program draws whole seconds.
plain.duration = function(v) return string.format("t%d", math.floor((v._high * 2.0 ^ 64 + tonumber(tostring(v._low))) / 1e18 + 0.5)) end
plain.meta = function(v) return (tostring(v):gsub("^.*%.", "")) end
plain["meta?"] = function(v) return (v == nil or v == swift.null) and "nil" or plain.meta(v) end

--- A value by the type it turns out to have.
local function dynamic(v)
  -- An error is a handle of its own kind, around the value.
  local is_error, inner = pcall(function() return v.type and v.message and v.value end)
  if type(v) == "userdata" and is_error and inner ~= nil then v = inner end
  if math.type(v) == "integer" then return tostring(v) end
  if type(v) == "number" then return double(v) end
  if type(v) == "string" then return "s" .. hex(v) end
  if type(v) == "userdata" then
    local ok, name = pcall(swift.type, v)
    local shape = ok and T[(name:gsub("^.*%.", ""))]
    if shape and shape ~= "?" then return say(v, shape):sub(1, -2) end
  end
  error("its dynamic type is not told", 0)
end

function say(v, shape, is_element)
  local ok, text = pcall(function()
    if type(v) == "userdata" then
      local shown = tostring(v)
      if shown == "<not decoded>" or shown == "<optimized out>" or shown == "<consumed>" then error(shown, 0) end
    end
    if shape == "?" then return dynamic(v) end
    local how = plain[shape] or type(shape) == "table" and composed[shape.k]
    if not how then error("no reading of " .. (type(shape) == "table" and shape.k or shape), 0) end
    if type(shape) == "table" then return how(shape, v, is_element) end
    return how(v)
  end)
  return (ok and text or why(text)) .. ";"
end

local function all(f, call)
  local text = {}
  for i, shape in ipairs(f.args) do
    local ok, v = pcall(function() return call.args[i] end)
    text[i] = ok and say(v, shape) or why(v) .. ";"
  end
  return table.concat(text, "|")
end

local function attempt(f, what, action)
  local ok, problem = pcall(action)
  if not ok then print("% " .. f[1] .. " " .. what .. " " .. why(problem)) end
  return ok
end

--- A value from the call itself; one that is not there is no value to give.
local function taken(call, index)
  local v = call.args[index]
  local shown = type(v) == "userdata" and tostring(v)
  if shown == "<not decoded>" or shown == "<optimized out>" or shown == "<consumed>" then error("taken from " .. shown, 0) end
  return v
end

--- The arguments as the function is to see them, and which are not as they were.
local function replaced(f, call)
  local new = {}
  for i, source in pairs(f.new or {}) do
    attempt(f, "a" .. i, function() if type(source) == "table" then new[i] = { source.lua } else new[i] = { taken(call, source) } end end)
  end
  return new
end
local function new_result(f, call)
  local source = f.new_result
  if type(source) == "table" then return source.lua end
  return taken(call, source)
end

local modes = {}
function modes.decode(f, hook)
  hook:before(function(call)
    print("@ " .. f[1] .. " " .. all(f, call))
    if not f.self then return end
    local ok, v = pcall(function() return call.self end)
    print("& " .. f[1] .. " " .. (ok and say(v, f.self) or why(v) .. ";"))
  end)
  if f.coroutine then return end
  hook:after(function(call)
    if call.error ~= nil then print("= " .. f[1] .. " threw " .. say(call.error, "?"))
    elseif f.result then print("= " .. f[1] .. " " .. say(call.result, f.result)) end
  end)
end
function modes.replace(f, hook)
  if f.new then
    hook:before(function(call)
      local new = replaced(f, call)
      for i, v in pairs(new) do attempt(f, "a" .. i, function() call.args[i] = v[1] end) end
    end)
  end
  if f.new_result and not f.coroutine then
    hook:after(function(call)
      if call.error == nil then attempt(f, "r", function() call.result = new_result(f, call) end) end
    end)
  end
end
function modes.around(f, hook)
  if f.coroutine then return end
  hook:around(function(call)
    local new, list = replaced(f, call), {}
    -- One by one first: what cannot be made is passed on as it came.
    for i = 1, #f.args do
      list[i] = call.args[i]
      if new[i] and attempt(f, "a" .. i, function() call.args[i] = new[i][1] end) then list[i] = new[i][1] end
    end
    local n = #f.args
    local r = call:original(table.unpack(list, 1, n))
    if f.new_result then
      local made
      if attempt(f, "r", function() made = new_result(f, call); call.result = made end) then return made end
    end
    if f.result then return r end
  end)
end
function modes.instead(f, hook)
  -- Whether a method consumes its struct is not in its name, so the one who stands in for it cannot end that.
  if f.coroutine or f.consuming or f.result and not f.new_result or f[2]:find("init(", 1, true) then return end
  hook:around(function(call)
    if not f.result then return end
    return new_result(f, call)
  end)
end
function modes.twice(f, hook)
  if f.coroutine then return end
  hook:around(function(call)
    attempt(f, "twice", function() call:try() end)
    return call:original()
  end)
end

-- What handles keep alive until they are collected is let go before the program counts its objects.
local function collect()
  local garbage
  for i = 1, 4 * collectgarbage("count") do garbage = string.rep("x", 1000) .. i end
end
method "Kit.end()":before(function() collect() end)

for _, f in ipairs(F) do
  local ok, hook = pcall(method, f[2])
  if ok then ok, hook = pcall(modes[MODE], f, hook) end
  if not ok then print("% " .. f[1] .. " hook " .. why(hook)) end
end
