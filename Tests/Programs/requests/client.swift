// One request of each kind that URLSession has, one after the other.
import Foundation
import FoundationNetworking

final class Delegate: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, @unchecked Sendable {
  let done = DispatchSemaphore(value: 0)
  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) { done.signal() }
  func urlSession(_ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL) {}
}

func wait(_ body: (DispatchSemaphore) -> Void) {
  let done = DispatchSemaphore(value: 0)
  body(done)
  done.wait()
}

@main struct Client {
  static func main() async throws {
    let base = CommandLine.arguments[1]
    func url(_ path: String) -> URL { URL(string: base + path)! }
    if CommandLine.arguments.count > 2 {
      // Each on a connection of its own, to a name that is looked up.
      for _ in 0..<Int(CommandLine.arguments[2])! {
        let session = URLSession(configuration: .ephemeral)
        wait { done in session.dataTask(with: url("wait/80/120")) { _, _, _ in done.signal() }.resume() }
        session.invalidateAndCancel()
      }
      return print("done")
    }
    let session = URLSession(configuration: .ephemeral)
    wait { done in session.dataTask(with: url("wait/80/120?token=abc")) { _, _, _ in done.signal() }.resume() }
    wait { done in session.dataTask(with: url("missing")) { _, _, _ in done.signal() }.resume() }
    _ = try await session.data(from: url("wait/40/0"))
    var post = URLRequest(url: url("wait/0/0"))
    post.httpMethod = "POST"
    wait { done in session.uploadTask(with: post, from: Data(count: 3000)) { _, _, _ in done.signal() }.resume() }
    wait { done in session.downloadTask(with: url("wait/10/10")) { _, _, _ in done.signal() }.resume() }
    wait { done in session.dataTask(with: url("to/to/wait/10/0")) { _, _, _ in done.signal() }.resume() }
    let delegate = Delegate()
    let own = URLSession(configuration: .ephemeral, delegate: delegate, delegateQueue: nil)
    var request = URLRequest(url: url("wait/20/0"))
    request.setValue("00-0123456789abcdef0123456789abcdef-1111111111111111-01", forHTTPHeaderField: "traceparent")
    own.dataTask(with: request).resume()
    delegate.done.wait()
    own.downloadTask(with: url("wait/5/0")).resume()
    delegate.done.wait()
    wait { done in session.dataTask(with: URL(string: "http://127.0.0.1:1/refused")!) { _, _, _ in done.signal() }.resume() }
    wait { done in
      let task = session.dataTask(with: url("wait/5000/0")) { _, _, _ in done.signal() }
      task.resume()
      usleep(50_000)
      task.cancel()
    }
    try? await Task.sleep(nanoseconds: 50_000_000)
    print("done")
  }
}
