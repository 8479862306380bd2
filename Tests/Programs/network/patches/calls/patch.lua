-- Scripts use Foundation themselves; none of it is linked into what runs them.
patch { id = "calls", version = "1.0.0", api = 1 }

-- checks
local function new(type, ...) return swift.new("FoundationEssentials." .. type, ...) end
local function date(seconds) return new("Date", "init(timeIntervalSince1970:)", seconds) end
local function decimal(text) return new("Decimal", "init(string:locale:)", text, nil) end

method "Shop.schedule(_:at:with:as:for:)":before(function(call, at, url, data, id, amount)
  -- URL
  same("parts of a URL", table.concat({ url.scheme, url.host, url.path, url.query, url.lastPathComponent }, " "), "https example.org /a b=c a")
  same("a part that is missing", url.port, nil)
  same("a method of a URL", url:appendingPathComponent("q").absoluteString, "https://example.org/a/q?b=c")
  same("a relative URL", new("URL", "init(string:relativeTo:)", "z", url).absoluteString, "https://example.org/z")
  same("a relative URL is shown with its base", tostring(new("URL", "init(string:relativeTo:)", "z", url)), 'URL("z", relativeTo: URL("https://example.org/a?b=c"))')
  same("no URL", new("URL", "init(string:)", ""), nil)
  same("a URL of a path", new("URL", "init(fileURLWithPath:)", "/tmp").isFileURL, true)
  fails("a type is named by the module it is declared in", function() swift.new("Foundation.URL", "init(string:)", "x") end, "no type 'Foundation.URL' in this program; did you mean 'FoundationEssentials.URL'?")
  -- UUID
  same("a UUID is made", #new("UUID", "init()").uuidString, 36)
  same("a UUID of a text", new("UUID", "init(uuidString:)", "e621e1f8-c36c-495a-93fc-0c247a3e6e5f").uuidString, "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")
  same("a UUID is shown as its text", tostring(new("UUID", "init(uuidString:)", "e621e1f8-c36c-495a-93fc-0c247a3e6e5f")), "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")
  same("no UUID", new("UUID", "init(uuidString:)", "e621"), nil)
  same("equal UUIDs", swift.call("static FoundationEssentials.UUID.==(_:_:)", id, new("UUID", "init(uuidString:)", id.uuidString)), true)
  -- Date
  same("a date later", at:addingTimeInterval(60).timeIntervalSince1970, 1700000060.5)
  same("an operator", swift.call("static FoundationEssentials.Date.+(_:_:)", at, 60).timeIntervalSince1970, 1700000060.5)
  same("dates compared", swift.call("static FoundationEssentials.Date.<(_:_:)", at, date(0)), false)
  same("a getter whose code other functions share", date(0).description, "1970-01-01 00:00:00 +0000")
  for _, seconds in ipairs { 0, 951782400, 1709164800, 4102444799, -12219292800, -12219292801, -62135596800, -1, 2147483648 } do
    same("a date is shown as it is: " .. seconds, tostring(date(seconds)), (date(seconds).description:gsub(" ", "T", 1):gsub(" .*", "Z")))
  end
  same("a date with a fraction", tostring(date(-0.25)), "1969-12-31T23:59:59.750Z")
  same("a date too far to be shown", tostring(date(1e15)), "Date(_time: 999999021692800.0)")
  local formatter = swift.new("Foundation.DateFormatter", "init()")
  formatter.dateFormat = "yyyy/MM/dd"
  same("a date formatted", swift.send(formatter, "string(from:)", at), "2023/11/14")
  same("a date parsed", swift.send(swift.new("Foundation.ISO8601DateFormatter", "init()"), "date(from:)", "2001-01-01T00:00:10Z").timeIntervalSinceReferenceDate, 10.0)
  -- Decimal
  for _, text in ipairs { "0", "-0.5", "12.345", "1e20", "1e127", "-1e-127", "340282366920938463463374607431768211455", "-1234567890123456789012345678.901", "0.0001", "100" } do
    same("a decimal is shown as it is: " .. text, tostring(decimal(text)), decimal(text).description)
  end
  same("no number", tostring(swift.call("static FoundationEssentials.Decimal.nan.get")), "NaN")
  same("decimals multiplied", swift.call("static FoundationEssentials.Decimal.\\*(_:_:)", amount, amount).description, "152.399025")
  same("a decimal of an integer", new("Decimal", "init(_: Int)", -5).description, "-5")
  -- Data
  same("the size of data", data.count, 3)
  same("data is not empty", data.isEmpty, false)
  same("a method of data", data:base64EncodedString(new("Data.Base64EncodingOptions", "init(rawValue:)", 0)), "AQID")
  same("data of a text", #swift.call("Shop.reversed(_:)", swift.data(("x"):rep(1000))), 1000)
  fails("no member of data", function() return data.nothing end, "a list has the positions 1, 2, …, got 'nothing'")
  -- Objects
  local response = swift.new("FoundationNetworking.HTTPURLResponse", "init(url:statusCode:httpVersion:headerFields:)", url, 418, nil, { ["X-Tea"] = "pot" })
  same("a response is made", response.statusCode, 418)
  same("its header", swift.send(response, "value(forHTTPHeaderField:)", "x-tea"), "pot")
  same("the file manager", class("FoundationEssentials.FileManager").default:fileExists("/bin/echo"), true)
  same("this process", #class("FoundationEssentials.ProcessInfo").processInfo.arguments, 2)
end)
