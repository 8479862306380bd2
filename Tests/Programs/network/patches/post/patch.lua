-- A notification is posted with other contents, and the second one under another name.
patch { id = "post", version = "1.0.0", api = 1 }

method "FoundationEssentials.NotificationCenter._post(_:subject:message:)":before(function(call, name, subject, message)
  if not message.userInfo then call.args[1] = "Nobody" return end
  local other = swift.new("Foundation.NSNotification.Name", "init(_:)", "Second")
  call.args.message = swift.new("Foundation.Notification", "init(name:object:userInfo:)", other, nil, { id = 8 })
end)
