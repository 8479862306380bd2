patch { id = "unmade" }
local kept, told = {}, {}
local function tell(text) if not told[text] then told[text] = true print("@ " .. text) end end
for _, selector in ipairs { "Unmade.Shape.init(some:)", "Unmade.Square.init(some:)", "Unmade.Shape.init(checked:)", "Unmade.Square.init(checked:)", "Unmade.Counter.init(_:)" } do
  method(selector):before(function(call)
    local ok, problem = pcall(function() return call.self.name end)
    tell("read " .. tostring(ok))
    if not ok then tell("because " .. tostring(problem):gsub("^[^ ]+ ", "")) end
    local ok, object = pcall(swift.keep, call.self)
    tell("keep " .. tostring(ok))
    if ok then kept[#kept + 1] = object end
    tell("weak " .. tostring(pcall(swift.weak, call.self)))
    tell("shown " .. tostring(call.self))
    if #kept > 20 then kept = {} end
  end)
  method(selector):around(function(call)
    local made, object = pcall(function() return call.self end)
    local ok, result = call:try()
    tell("read later " .. tostring(pcall(function() return object.name end)))
    if ok then return result end
    call:throw(result)
  end)
  method(selector):after(function(call) tell("result " .. type(call.result)) end)
end
for _, field in ipairs { "self.name", "self.corners", "self.marks.count" } do
  print("@ rule " .. tostring(select(2, pcall(function() track "x" { on = "Unmade.Shape.init(some:)", fields = { x = field } } end))):gsub("^[^ ]+ ", ""))
end
track "made" { on = "Unmade.Square.init(some:)", at = "exit", fields = { type = "self.@type", name = "result.name" } }
