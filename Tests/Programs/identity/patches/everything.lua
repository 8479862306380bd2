patch { id = "everything", version = "1.0.0", api = 1 }
method "**":before(function() end)
