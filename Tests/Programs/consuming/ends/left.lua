patch { id = "left", version = "1.0.0", api = 1 }
-- These calls work once the script accepts that they may leave a copy: a name for each, or a pattern.
swift.allow_leak "Ends.Alone.*"
swift.allow_leak "Ends.Pot.number()"
local ok, problem = pcall(swift.allow_leak, "Ends.Alone.kep()")
log.info("near miss: " .. tostring(not ok and problem))
method("main.offer(_:_:_:)"):before(function(call, alone, watching, pot)
  log.info("ran " .. alone:kept() + swift.send(alone, "kept()") .. " " .. pot:number())
end)
method("main.wait(_:)"):around(function(call, alone)
  log.info("waited " .. alone:later(4))
  return call:original()
end)
