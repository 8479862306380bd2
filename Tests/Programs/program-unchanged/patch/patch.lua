patch { id = "sound", version = "1.0.0", api = 1 }
local function say(...) print("@ " .. table.concat({ ... })) end
local n = 0
local function work() n = n + 1; return swift.call("Parts.busy(_:)", n + 0.5) end

-- The x87 stack: whatever handlers do, results arrive.
method "Parts.third(_:)":after(function(call) work() end)
method "Parts.halves(_:)":around(function(call) work(); local r = call:original(); work(); return r end)
method "Parts.hidden(_:_:)":around(function(call) local r = call:original(); work(); return r end)
-- Arguments on the stack.
method "Parts.total(_:_:)":after(function(call) end)
-- Self.
local function twice(call)
  local first = call:original()
  local ok, why = pcall(call.original, call)
  say(call.selector, " again: ", ok and "yes" or (why:match("can run once only") or why))
  local readable, self = pcall(function() return tostring(call.self) end)
  say(call.selector, " self: ", readable and self or "refused")
  return first
end
for _, name in ipairs { "Parts.Ticket.tear()", "Parts.Ticket.look()", "Parts.Bundle.tear()", "Parts.Bundle.look()", "Parts.Ticket.peek()" } do
  method(name):around(twice)
end
method "Parts.eat(_:_:)":around(function(call)
  call:original()
  local ok, why = pcall(call.original, call)
  say("eat again: ", ok and "yes" or (why:match("can run once only") or why))
end)
method "Parts.fail(_:_:)":around(function(call)
  local ok = pcall(call.original, call)
  say("fail: ", tostring(call.error))
end)
-- A typed error of a getter, which its name does not tell.
method "Parts.Ledger.balance.get":after(function(call)
  local text = tostring(call.result)
  if text == "nil" then text = text .. (pcall(function() call.result = 7 end) and " replaced" or " kept") end
  say("balance error: ", tostring(call.error), " result: ", text)
end)
method "Parts.callerOfGetter(_:)":before(function(call, ledger)
  local ok, answer = pcall(swift.send, ledger, "balance.get")
  say("send: ", tostring(ok), " ", ok and tostring(answer) or tostring(answer))
end)
method "Parts.Ledger.idle(_:)":before(function(call, x) say("idle ", tostring(x), " ", tostring(call.self)) end)
-- Evolution.
local function show(call)
  local shown = {}
  for i = 1, #call.args do
    local ok, text = pcall(function() return tostring(call.args[i]) end)
    shown[i] = ok and text or "refused"
  end
  say(call.selector, ": ", table.concat(shown, " | "))
end
method "Main.outside(_:_:_:_:)":before(show)
method "Main.shapes(_:_:)":before(show)
method "Evolving.take(_:_:)":before(show)
method "Evolving.shown(_:)":before(show)
