-- A `before` handler: changes an argument. Every piece of output goes through this method.
patch { id = "todo", version = "1.0.0", api = 1, target = { program = "swift-format" } }

method "SwiftFormat.PrettyPrintBuffer.write(_:)":before(function(call, text)
  if text:find("todo", 1, true) then
    call.args[1] = text:gsub("todo:?", "TODO:")
  end
end)
