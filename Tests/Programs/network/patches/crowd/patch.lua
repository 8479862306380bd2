-- Wraps every handler; what it is given is read, and passed on through Lua.
patch { id = "crowd", version = "1.0.0", api = 1 }

local made, handled, elsewhere, bytes = 0, 0, 0, 0
method "FoundationNetworking.URLSession.dataTask(with: URL, completionHandler: @Sendable (Data?, URLResponse?, (any Error)?) -> ()) -> URLSessionDataTask":before(function(call, url, handler)
  made = made + 1
  local path = url.lastPathComponent
  call.args.completionHandler = function(data, response, failure)
    handled = handled + 1
    bytes = bytes + #data
    assert(response.statusCode == 200 and failure == nil and path == "greeting.txt" and response.url.lastPathComponent == path)
    handler(swift.data(tostring(data)), response, failure)
    if handled % 100 == 0 then print("handled: " .. handled, made >= handled, bytes) end
  end
end)
