-- A notification is posted with other contents, where the program calls the function it names.
patch { id = "posting", version = "1.0.0", api = 1 }

method "FoundationEssentials.NotificationCenter.post(name:object:userInfo:)":before(function(call, name, object, info)
  if info then call.args.userInfo = { id = info.id .. " and more" } end
end)
