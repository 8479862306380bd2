patch { id = "typed", version = "1.0.0", api = 1 }
method "Main.typed(_:)":around(function(call) call:original() call:throw({ a = 7 }) end)
method "Main.sometimes(_:)":around(function(call) call:original() call:throw({ a = 8 }) end)
