// One request by URLSession, with a name to look up and a server to connect to.
import Foundation
import FoundationNetworking

let done = DispatchSemaphore(value: 0)
URLSession(configuration: .ephemeral).dataTask(with: URL(string: CommandLine.arguments[1])!) { data, response, error in
  print("answer:", (response as? HTTPURLResponse)?.statusCode ?? 0, data.map { String(decoding: $0, as: UTF8.self) } ?? "-")
  done.signal()
}.resume()
done.wait()
