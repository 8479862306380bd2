// bench-client URL TASKS REPETITIONS — data tasks of URLSession, one after the other on a kept connection. Prints samples as bench-subject does: the
// processor time of all threads for each task.
import Foundation
import FoundationNetworking
import Sampling

let url = URL(string: CommandLine.arguments[1])!
let tasks = Int(CommandLine.arguments[2])!, repetitions = Int(CommandLine.arguments[3])!
let session = URLSession(configuration: .ephemeral)

func run(_ count: Int) {
  for _ in 0..<count {
    let done = DispatchSemaphore(value: 0)
    session.dataTask(with: url) { _, response, error in
      // A figure of requests that failed is none.
      guard error == nil, (response as? HTTPURLResponse)?.statusCode == 200 else { fatalError("\(error.map { "\($0)" } ?? "no answer")") }
      done.signal()
    }.resume()
    done.wait()
  }
}

run(20)
for _ in 0..<repetitions {
  let start = processTime()
  run(tasks)
  sample("task", (processTime() - start) / Double(tasks))
}
