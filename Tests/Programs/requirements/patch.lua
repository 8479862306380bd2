patch { id = "requirements", api = 1 }
-- Whose method was called, once for each call.
for _, name in ipairs {
  "Shop.Reporter.changed(_:)", "Shop.Reporter.told(_:)", "Shop.Reporter.size.get", "Shop.Reporter.size.set",
  "static Shop.Reporter.kind(_:)", "Shop.Priced.worth(_:)", "Shop.Sink.write(_:)",
} do
  method(name):before(function(call) print("@   " .. call.selector) end)
end
method "Shop.Maker.make(_:_:)":after(function(call) print(("@   make %d: %d"):format(call.args[2], call.result.number)) end)
method "Shop.Watcher.watched.get":after(function(call) print "@   watched" end)
method "Shop.Watcher.look(_:)":around(function(call, n) print("@   looks at " .. n) return call:original() + 1 end)
method "Shop.mark(_:)":before(function(call, text) print("@ " .. text) end)
