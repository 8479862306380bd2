patch { id = "refused", version = "1.0.0", api = 1 }
-- Calls whose copy may stay are not made, however they are spelled.
local function refused(what, ran, problem)
  local selector = "Ends." .. what
  local said = not ran and tostring(problem):find("cannot call '" .. selector .. "': its code does not tell whether it consumes its self", 1, true)
    and tostring(problem):find('swift.allow_leak("' .. selector .. '")', 1, true)
  log.info((said and "refused " or "NOT REFUSED ") .. what .. (said and "" or ": " .. tostring(problem)))
end
method("main.offer(_:_:_:)"):before(function(call, alone, watching, pot)
  refused("Alone.kept()", pcall(function() return alone:kept() end))
  refused("Alone.kept()", pcall(swift.send, alone, "kept()"))
  refused("Alone.kept()", pcall(swift.try, alone, "kept()"))
  refused("Pot.number()", pcall(function() return pot:number() end))
  log.info("told " .. watching.length .. " " .. watching:kept())
end)
method("main.wait(_:)"):around(function(call, alone)
  refused("Alone.later(_:)", pcall(function() return alone:later(1) end))
  return call:original()
end)
for _, each in ipairs { "Watching.kept()", "Alone.kept()", "Behind.kept()", "Alone.later(_:)" } do
  log.info(each .. (explain("Ends." .. each):match("\n  self +([^\n]+)") or " nothing"))
end
