// Completion handlers of Foundation itself.
import Foundation
import FoundationNetworking

let center = NotificationCenter.default
let name = Notification.Name("closures.test")
let token = center.addObserver(forName: name, object: nil, queue: nil) { note in
  print("observed", note.name.rawValue, note.userInfo?["n"] ?? "nothing")
}
center.post(name: name, object: nil, userInfo: ["n": 1])
center.removeObserver(token)
center.post(name: name, object: nil, userInfo: ["n": 2])

let queue = OperationQueue()
queue.addOperation { print("operation") }
queue.waitUntilAllOperationsAreFinished()
let thread = Thread { print("thread") }
thread.start()
while !thread.isFinished { usleep(1000) }
let timer = Timer(timeInterval: 0.01, repeats: false) { timer in print("timer", timer.isValid) }
RunLoop.main.add(timer, forMode: .default)
RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.1))
let url = URL(fileURLWithPath: "/nowhere/at-all")
let done = DispatchSemaphore(value: 0)
URLSession.shared.dataTask(with: url) { data, response, error in
  print("task", data?.count ?? -1, response == nil, error == nil)
  done.signal()
}.resume()
done.wait()
