patch { id = "getters", version = "1.0.0", api = 1 }
-- The letter at the end of their names tells whose getters they are.
local function name(call) return (call.selector:gsub("^.*%.(%a+)%d+(%a)%.get$", "%1%2")) end
for _, kind in ipairs { "kept", "used" } do
  method("Things.*." .. kind .. "*.get"):around(function(call)
    local before = tostring(call.self)
    local result = call:original()
    local ran, problem = pcall(call.original, call)
    if not ran and not tostring(problem):find("cannot run twice", 1, true) then log.error("failed: " .. tostring(problem)) end
    log.info((ran and "ran " or "refused ") .. name(call))
    return result
  end)
  method("Things.*." .. kind .. "*.get"):after(function(call)
    local shown = tostring(call.self)
    if shown == "<consumed>" then log.info("gone " .. name(call)) end
  end)
end
