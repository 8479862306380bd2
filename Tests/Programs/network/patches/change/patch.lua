-- Exchanges what Foundation is given and gives for other values, made here or by calling in.
patch { id = "change", version = "1.0.0", api = 1 }

local dataTask = "FoundationNetworking.URLSession.dataTask(with: URL, completionHandler: @Sendable (Data?, URLResponse?, (any Error)?) -> ()) -> URLSessionDataTask"

local function url(text) return swift.new("FoundationEssentials.URL", "init(string:)", text) end
local function date(seconds) return swift.new("FoundationEssentials.Date", "init(timeIntervalSince1970:)", seconds) end
local function decimal(text) return swift.new("FoundationEssentials.Decimal", "init(string:locale:)", text, nil) end
local function uuid(text) return swift.new("FoundationEssentials.UUID", "init(uuidString:)", text) end
local function notification(name, info)
  return swift.new("Foundation.Notification", "init(name:object:userInfo:)", swift.new("Foundation.NSNotification.Name", "init(_:)", name), nil, info)
end

method(dataTask):before(function(call, from)
  local wanted, handler = from.lastPathComponent, call.args.completionHandler
  local made = wanted == "refused" and swift.keep(swift.new("FoundationNetworking.HTTPURLResponse", "init(url:statusCode:httpVersion:headerFields:)", from, 299, nil, nil))
  call.args.completionHandler = function(data, response, failure)
    if wanted == "greeting.txt" then return handler(swift.data("changed by a script"), response, failure) end
    if wanted == "missing.txt" then return handler(nil, response, swift.error("made by a script")) end
    return handler(swift.data("rescued"), made, nil)
  end
end)
method "FoundationNetworking.URLSession.data(from:delegate:)":around(function(call)
  local got = call:original()
  return { swift.data(tostring(got[1]):upper()), got[2] }
end)
local lines = 0
method "Foundation.FileHandle.write(_: Data)":before(function(call, data)
  lines = lines + 1
  if lines == 1 then call.args[1] = swift.data("another\n") else call.args[1] = swift.data("<" .. tostring(data) .. ">") end
end)
method "FoundationEssentials.JSONEncoder.encode(_: A) throws -> Data":after(function(call)
  call.result = swift.data((tostring(call.result):gsub("tea", "coffee")))
end)
method "FoundationEssentials.NotificationCenter.addObserver(forName:object:queue:using:)":before(function(call)
  local using = call.args.using
  call.args.using = function(note) return using(notification("Renamed", { id = note.userInfo.id * 10 })) end
end)
method "Foundation.Process.run()":before(function(call)
  call.self.arguments = { "out of", "a script" }
  call.self.executableURL = swift.new("FoundationEssentials.URL", "init(fileURLWithPath:)", "/usr/bin/echo")
end)
method "Shop.schedule(_:at:with:as:for:)":before(function(call, at, to, data, id, amount)
  call.args[1] = at:addingTimeInterval(1000)
  call.args.at = url("https://example.com/other")
  call.args.with = swift.data("four")
  call.args.as = uuid("FFFFFFFF-0000-0000-0000-000000000001")
  call.args.for_ = decimal("-0.5")
end)
method "Shop.deadline(after:)":after(function(call) call.result = date(42.25) end)
method "Shop.double(_:)":before(function(call) call.args[1] = decimal("1000000000000000000000000.001") end)
method "Shop.child(of:)":after(function(call) call.result = call.result:appendingPathComponent("of a script") end)
method "Shop.reversed(_:)":around(function(call) call:original() return swift.data("\9\8\7\6\5\4\3\2\1\0\1\2\3\4\5\6\7\8\9") end)
method "Shop.same(_:)":around(function(call) return uuid("00000000-0000-0000-0000-00000000000F") end)
