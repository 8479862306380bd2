// client URL: one async request, one with a handler.
import Foundation
import FoundationNetworking

@main struct Client {
  static func main() async throws {
    let url = URL(string: CommandLine.arguments[1])!
    let (data, _) = try await URLSession.shared.data(from: url)
    print(data.count)
    let text: String = await withCheckedContinuation { done in
      URLSession.shared.dataTask(with: url) { data, _, _ in done.resume(returning: "\(data?.count ?? -1)") }.resume()
    }
    print(text)
  }
}
