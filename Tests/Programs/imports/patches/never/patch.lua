patch { id = "never", version = "1.0.0", api = 1 }
method("Plugin.Formal.greets(_:)", { wait = true }):before(function() end)
method("Nowhere.at()", { wait = true }):before(function() end)
print(select(2, pcall(method, "Nowhere.at()")))
print(select(2, pcall(method, "Base.Greeter.greet(", { wait = true })))
print(select(2, pcall(method, "Base.Greeter.greet(_:)", { wat = true })))
