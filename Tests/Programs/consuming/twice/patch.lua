patch { id = "twice", version = "1.0.0", api = 1 }
for _, kind in ipairs { "kept", "used" } do
  method("Things.Thing." .. kind .. "*(_:)"):around(function(call)
    call:try()
    local ran, problem = pcall(call.try, call)
    if not ran and not tostring(problem):find("cannot run twice", 1, true) then log.error("failed: " .. tostring(problem)) end
    log.info((ran and "ran " or "refused ") .. kind)
  end)
end
