patch { id = "beside" }
method "static traps.Desk.tick(_:)":before(function(call) end)
