patch { id = "actor", version = "1.0.0", api = 1 }
method "Main.Keeper.take(_:_:)":around(function(call) return 900 end)
method "Main.Keeper.put(_:_:)":around(function(call) return 901 end)
