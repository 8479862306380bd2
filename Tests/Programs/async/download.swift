// download PORT: asks a local server 21 times, and a port where nobody listens once.
import Foundation
import FoundationNetworking

@main struct Download {
  static func main() async throws {
    let url = URL(string: "http://127.0.0.1:\(CommandLine.arguments[1])/greeting.txt")!
    let (data, response) = try await URLSession.shared.data(from: url)
    print((response as! HTTPURLResponse).statusCode, String(decoding: data, as: UTF8.self))
    let bytes = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<20 { group.addTask { try await URLSession.shared.data(from: url).0.count } }
      var sum = 0
      for try await bytes in group { sum += bytes }
      return sum
    }
    print(bytes)
    do { _ = try await URLSession.shared.data(from: URL(string: "http://127.0.0.1:1/none")!) } catch let error as URLError { print(error.code.rawValue) }
  }
}
