patch { id = "traps", version = "1.0.0", api = 1 }
method "Main.made(_:)":around(function(call) call:throw("refused by lua") end)
