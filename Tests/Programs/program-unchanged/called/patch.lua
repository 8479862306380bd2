patch { id = "called", version = "1.0.0", api = 1 }
-- Of some the code tells at one level and not at another; what may stay is let go by nobody.
swift.allow_leak "Parts.Bundle.*"
swift.allow_leak "Parts.Ticket.tear()"
method "Parts.feeds(_:)":before(function(call)
  local ticket = swift.new("Parts.Ticket", "init(_:)", "s")
  local torn, seen = ticket:tear(), ticket:look()
  for _ = 1, 50 do ticket:tear() ticket:look() ticket:peek() end
  local bundle = swift.new("Parts.Bundle", "init(_:)", "c")
  local both = bundle:tear()
  for _ = 1, 50 do bundle:tear() bundle:look() end
  assert(ticket.text == "the text of s, which is long" and bundle.first.token ~= nil)
  print("@ " .. torn .. " " .. seen .. " " .. both)
end)
