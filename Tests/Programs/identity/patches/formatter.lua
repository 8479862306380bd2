patch { id = "formatter", version = "1.0.0", api = 1 }
method "SwiftFormat.**":before(function() end)
