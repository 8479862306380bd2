patch { id = "handlers", version = "1.0.0", api = 1 }
-- Every handler looks at all there is, and runs the original once, or tries to run it twice.
local function look(call, ...)
  local shown = { tostring(call.self) }
  for _, value in ipairs { ... } do shown[#shown + 1] = tostring(value) end
  return table.concat(shown, " ")
end
for _, selector in ipairs {
  "pass(_:)", "exchange(_:_:)", "later(_:)", "open(_:)", "make(_:)", "count(_:)", "raise(_:)", "hold(_:)", "point(_:)",
  "Holder.unwrap()", "Holder.counted()", "Cells.next()",
} do
  local hooked = method("values." .. selector)
  hooked:before(function(call, ...) look(call, ...) end)
  hooked:around(function(call, ...) look(call, ...) local result = call:original() look(call, result) return result end)
  hooked:after(function(call) look(call, call.result) end)
end
for _, selector in ipairs { "Ticket.spend()", "punch(_:)", "run(_:)", "open(_:)", "count(_:)" } do
  method("values." .. selector):around(function(call)
    local result = call:original()
    local ran, problem = pcall(call.original, call)
    log.info(selector .. (ran and " ran twice" or " is refused: " .. tostring(problem)))
    return result
  end)
end
