// One request of each kind that URLSession has, one after the other.
import Foundation
import FoundationNetworking

/// Requests below spans: of a thread, and of a task.
@inline(never) func orders(_ session: URLSession, _ url: URL) { wait { done in session.dataTask(with: url) { _, _, _ in done.signal() }.resume() } }
@inline(never) func asks(_ session: URLSession, _ url: URL) async throws -> Int {
  async let other = session.data(from: url.appendingPathComponent("child")).0.count
  return try await session.data(from: url).0.count + other
}

final class Delegate: NSObject, URLSessionDataDelegate, URLSessionDownloadDelegate, @unchecked Sendable {
  let done = DispatchSemaphore(value: 0)
  func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) { done.signal() }
  /// Credentials for who asks for them, once.
  func urlSession(
    _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
    completionHandler: @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
  ) {
    completionHandler(.useCredential, URLCredential(user: "ann", password: "tea", persistence: .none))
  }
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
    if CommandLine.arguments.last == "spans" { return try await spans { URL(string: base + $0)! } }
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
    try await more(session, own, delegate) { URL(string: base + $0)! }
    try? await Task.sleep(nanoseconds: 50_000_000)
    print("done")
  }

  /// Other ways to send a body and to take an answer.
  nonisolated static func more(_ session: URLSession, _ own: URLSession, _ delegate: Delegate, _ url: @Sendable (String) -> URL) async throws {
    func put(_ path: String) -> URLRequest {
      var request = URLRequest(url: url(path))
      request.httpMethod = "PUT"
      return request
    }
    let file = URL(fileURLWithPath: "body")
    try Data(count: 1500).write(to: file)
    print(try await session.upload(for: put("wait/1/0"), from: Data(count: 1000)).0.count)
    print(try await session.upload(for: put("wait/2/0"), fromFile: file).0.count)
    print(try await session.download(from: url("wait/3/0")).0.isFileURL)
    wait { done in session.uploadTask(with: put("wait/4/0"), fromFile: file) { _, _, _ in done.signal() }.resume() }
    own.uploadTask(with: put("wait/6/0"), from: Data(count: 1200)).resume()
    delegate.done.wait()
    var streamed = put("wait/7/0")
    streamed.httpBodyStream = InputStream(data: Data(count: 1100))
    own.dataTask(with: streamed).resume()
    delegate.done.wait()
    wait { done in
      let task = session.dataTask(with: url("wait/8/0")) { _, _, _ in done.signal() }
      // Suspending one that runs is a fatal error of Foundation's own.
      task.suspend()
      task.resume()
      task.resume()
    }
    own.dataTask(with: url("secret/1/0")).resume()
    delegate.done.wait()
  }

  nonisolated static func spans(_ url: @Sendable (String) -> URL) async throws {
    let session = URLSession(configuration: .ephemeral)
    orders(session, url("to/wait/1/0"))
    print(try await asks(session, url("wait/2/0")))
    // Below no span.
    wait { done in session.dataTask(with: url("wait/3/0")) { _, _, _ in done.signal() }.resume() }
  }
}
