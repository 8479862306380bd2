local function wrap(selector, label)
  local ok, why = pcall(function()
    method(selector):before(function(call)
      local original = call.args[label]
      call.args[label] = function(...)
        print(label, select("#", ...))
        return original(...)
      end
    end)
  end)
  if not ok then print("no hook: " .. tostring(why)) end
end
wrap("FoundationEssentials.NotificationCenter.addObserver(forName:object:queue:using:)", "using")
wrap("Foundation.OperationQueue.addOperation(_: @Sendable () -> ())", 1)
wrap("Foundation.Thread.init(block:)", "block")
wrap("Foundation.Timer.init(timeInterval:repeats:block:)", "block")
wrap("FoundationNetworking.URLSession.dataTask(with: URL, completionHandler: @Sendable (Data?, URLResponse?, (any Error)?) -> ()) -> URLSessionDataTask", "completionHandler")
