-- An `after` handler: sees the result and how long the call took.
patch { id = "timing", version = "1.0.0", api = 1, target = { program = "swift-format" } }

method "SwiftFormat.PrettyPrinter.prettyPrint()":after(function(call)
  log.info("pretty printing took " .. call.duration_ns // 1000 .. " us", { bytes = #call.result })
end)
