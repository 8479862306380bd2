-- plutil -p prints "key" => value; this patch makes it "key": value.
patch { id = "colon", version = "1.0.0", api = 1, target = { program = "plutil" } }

method "plutil.PrintCommand.prettyPrint(_:indent:spacing:)":around(function(call)
  return (call:original():gsub(" => ", ": "))
end)
