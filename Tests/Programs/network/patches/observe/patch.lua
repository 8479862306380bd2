-- Reads what Foundation is given and gives, before, around and after, and changes nothing.
patch { id = "observe", version = "1.0.0", api = 1 }

local dataTask = "FoundationNetworking.URLSession.dataTask(with: URL, completionHandler: @Sendable (Data?, URLResponse?, (any Error)?) -> ()) -> URLSessionDataTask"
local resume = "FoundationNetworking.URLSessionTask.resume()"
local dataFrom = "FoundationNetworking.URLSession.data(from:delegate:)"
local write = "Foundation.FileHandle.write(_: Data)"
local encode = "FoundationEssentials.JSONEncoder.encode(_: A) throws -> Data"
local addObserver = "FoundationEssentials.NotificationCenter.addObserver(forName:object:queue:using:)"
-- What every way of posting comes to; smaller functions before it are inlined into optimised programs.
local post = "FoundationEssentials.NotificationCenter._post(_:subject:message:)"
local run = "Foundation.Process.run()"

-- The port is another one each time.
local function path(url) return url and (url.absoluteString:gsub("^http://127.0.0.1:%d+", "")) end
local function bytes(data) return data and #data .. " " .. tostring(data):gsub("\n", "/") end

-- Every position at once.
local calls = {}
for _, selector in ipairs { dataTask, resume, dataFrom, write, encode, addObserver, post, run } do
  local counts = { 0, 0, 0 }
  calls[#calls + 1] = { selector:match "%.([%w_]+%.[%w_]+)%(", counts }
  method(selector):before(function() counts[1] = counts[1] + 1 end)
  method(selector):around(function(call) call:original() counts[2] = counts[2] + 1 end)
  method(selector):after(function() counts[3] = counts[3] + 1 end)
end
method "Shop.same(_:)":after(function()
  for _, each in ipairs(calls) do print("calls: " .. each[1], table.concat(each[2], " ")) end
end)

method(dataTask):before(function(call, url, handler)
  local at = path(url)
  print("task: " .. at)
  call.args.completionHandler = function(data, response, failure)
    local is = failure and failure.value._nsError
    print("handler: " .. at, bytes(data), response and response.statusCode, response and path(response.url), failure and failure.type, is and is.domain, is and is.code)
    return handler(data, response, failure)
  end
end)
method(dataTask):after(function(call) print("made: " .. swift.type(call.result)) end)
method(resume):before(function(call) print("resume: " .. path(call.self.originalRequest.url)) end)
method(dataFrom):around(function(call, url, delegate)
  print("data from: " .. path(url), delegate)
  local got = call:original()
  print("data got: " .. bytes(got[1]), got[2].statusCode, path(got[2].url))
  return got
end)
method(write):before(function(call, data) print("write: " .. bytes(data), data.count, data.isEmpty) end)
method(encode):after(function(call, value)
  print("encode: " .. swift.type(value), value.id, value.item, value.prices[2], bytes(call.result))
end)
method(addObserver):before(function(call, name, object, queue)
  local using = call.args.using
  print("observe: " .. name.rawValue, object, queue)
  call.args.using = function(note)
    print("noted: " .. note.name.rawValue, note.object, note.userInfo.id, #note.userInfo)
    return using(note)
  end
end)
method(post):before(function(call, name, subject, message)
  print("post: " .. name, subject, swift.type(message), message.name.rawValue, message.userInfo and message.userInfo.id)
end)
method(run):around(function(call)
  print("run: " .. path(call.self.executableURL), table.concat(call.self.arguments:table(), ","))
  call:original()
  print("ran: " .. tostring(call.self.processIdentifier > 0))
end)
method "Shop.schedule(_:at:with:as:for:)":before(function(call, date, url, data, id, amount)
  print("schedule: " .. date.timeIntervalSince1970, path(url), bytes(data), id.uuidString, amount.description)
  print("shown: " .. tostring(date), tostring(url), #tostring(data), tostring(id), tostring(amount))
end)
method "Shop.deadline(after:)":after(function(call, date) print("deadline: " .. call.result.timeIntervalSince1970, date.timeIntervalSince1970) end)
method "Shop.double(_:)":after(function(call, amount) print("double: " .. call.result.description, amount.description) end)
method "Shop.child(of:)":after(function(call, url) print("child: " .. path(call.result), path(url)) end)
method "Shop.reversed(_:)":after(function(call, data) print("reversed: " .. call.result[1] .. call.result[3], data[1] .. data[3]) end)
method "Shop.same(_:)":after(function(call, id) print("same: " .. call.result.uuidString, id.uuidString) end)
