-- An `around` handler: runs the original and changes what it returns.
patch { id = "banner", version = "1.0.0", api = 1, target = { program = "swift-format" } }

method "SwiftFormat.PrettyPrinter.prettyPrint()":around(function(call)
  local text = call:original()
  local lines = select(2, text:gsub("\n", ""))
  log.info("formatted", { lines = lines, bytes = #text })
  return "// Formatted by a patched swift-format: " .. lines .. " lines.\n" .. text
end)
