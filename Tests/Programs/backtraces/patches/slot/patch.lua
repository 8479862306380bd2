-- Handlers around the C functions alone.
patch { id = "slot", version = "1.0.0", api = 1 }
method "C.mark(value: int64) -> int64":around(function(call, value) return call:original(value) end)
method "C.crash(value: int64) -> int64":around(function(call, value) return call:original(value) end)
method "traced.spin(_:)":before(function(call) end)
