patch { id = "types", version = "1.0.0", api = 1 }
-- Lines: what|step|ok, or the sentence that says why not.
local function why(problem) return (tostring(problem):gsub("^[^ ]*:%d+: ", ""):gsub("[\n|]", " ")) end
local function note(what, step, ok, problem) print("@" .. what .. "|" .. step .. "|" .. (ok and "ok" or why(problem))) end
-- attempt WHAT STEP FUNCTION: it neither raises nor answers false.
local function attempt(what, step, action)
  local ok, answer = pcall(action)
  if ok and answer == false then note(what, step, false, "WRONG value") else note(what, step, ok, answer) end
  return ok and answer ~= false
end
local function hook(what, step, selector, phase, handler)
  local ok, problem = pcall(function() local m = method(selector) m[phase](m, handler) end)
  if not ok then note(what, step, false, problem) end
end
-- A value that is not there is no value.
local function there(v)
  local shown = type(v) == "userdata" and tostring(v)
  if shown == "<not decoded>" or shown == "<optimized out>" or shown == "<consumed>" then error(shown, 0) end
  return v
end

function kind(i, check)
  local what = tostring(i)
  local function reads(step, get) attempt(what, step .. "-read", function() return check(there(get())) end) end
  hook(what, "argument-read", "Kinds.arg" .. i .. "(_:_:)", "before", function(call)
    reads("argument", function() return call.args[1] end)
    attempt(what, "argument-write", function() call.args[1] = there(call.args[2]) end)
  end)
  hook(what, "inout-read", "Kinds.in" .. i .. "(_:_:)", "before", function(call)
    reads("inout", function() return call.args[1] end)
    attempt(what, "inout-write", function() call.args[1] = there(call.args[2]) end)
  end)
  hook(what, "result-read", "Kinds.res" .. i .. "(_:)", "after", function(call)
    reads("result", function() return call.result end)
    attempt(what, "result-write", function() call.result = there(call.args[1]) end)
  end)
  hook(what, "field-read", "Kinds.hold" .. i .. "(_:)", "before", function(call, h)
    reads("field", function() return h.field end)
    attempt(what, "field-write", function() h.field = there(h.spare) end)
  end)
  hook(what, "property-read", "Kinds.prop" .. i .. "(_:)", "before", function(call, h)
    reads("property", function() return h.property end)
    attempt(what, "property-write", function() h.property = there(h.spare) end)
  end)
  hook(what, "call", "Kinds.called" .. i .. "(_:)", "before", function(call)
    attempt(what, "call", function() return swift.call("Kinds.id" .. i .. "(_:)", there(call.args[1])) ~= nil end)
  end)
  pcall(function()
    method("Kinds.clo" .. i .. "(_:_:)"):before(function(call, f, other)
      attempt(what, "closure-call", function() there(f(there(other))) end)
      attempt(what, "closure-write", function()
        -- The closure runs when this handler is over.
        local kept, given = pcall(swift.keep, other)
        if not kept then given = other end
        call.args[1] = function(v)
          reads("closure", function() return v end)
          return given
        end
      end)
    end)
  end)
end

local stage = 0
method "Kinds.stage(_:)":before(function(call, n) stage = n end)
function fn(i, selector, args, set, result, new, call_in, answer)
  local what = "f" .. i
  hook(what, "read", selector, "before", function(call)
    if stage == 3 * i and args then attempt(what, "read", function() local done = args(call) if not done then there(call.args[1]) end return done end) end
    if stage == 3 * i + 1 and set then attempt(what, "write", function() set(call) end) end
  end)
  if result then
    hook(what, "result", selector, "after", function(call)
      if stage == 3 * i then attempt(what, "result", function() local done = result(call) if not done then there(call.result) end return done end) end
      if stage == 3 * i + 2 then attempt(what, "new", function() new(call) end) end
    end)
  end
  if call_in then
    hook(what, "call", "Kinds.turn" .. i .. "()", "before", function() attempt(what, "call", function() return tostring(call_in()) == answer end) end)
  end
end

