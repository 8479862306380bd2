// ScrapeServer — answers GET /metrics over HTTP/1.1 on one address, one request per connection.
//
// Runs on the caller's thread. A client that is slow, says nothing or sends garbage has one second and 8 KiB.
internal import Glibc

package struct ScrapeServer: ~Copyable {
  private let listener: Int32
  /// The port that is listened on: the one asked for, or the one the system gave for 0.
  package let port: UInt16

  package enum Problem: Error, CustomStringConvertible {
    case badAddress(String)
    case cannotListen(String, why: String)

    package var description: String {
      switch self {
      case .badAddress(let text): "'\(text)' is no address; write HOST:PORT with a numeric host, such as 127.0.0.1:9464"
      case .cannotListen(let text, let why): "cannot listen on '\(text)': \(why); choose another port"
      }
    }
  }

  /// - Parameter address: numeric host and port: "127.0.0.1:9464".
  package init(_ address: String) throws(Problem) {
    guard let colon = address.lastIndex(of: ":"), let port = UInt16(address[address.index(after: colon)...]) else {
      throw .badAddress(address)
    }
    var place = sockaddr_in()
    place.sin_family = sa_family_t(AF_INET)
    place.sin_port = port.bigEndian
    guard inet_pton(AF_INET, String(address[..<colon]), &place.sin_addr) == 1 else { throw .badAddress(address) }
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var yes: Int32 = 1
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, 4)
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafePointer(to: place) {
      // sockaddr_in is one of the shapes that bind reads as sockaddr.
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, size) == 0 }
    }
    guard isBound, listen(listener, 16) == 0 else {
      let why = String(cString: strerror(errno))
      close(listener)
      throw .cannotListen(address, why: why)
    }
    var actual = sockaddr_in()
    var length = size
    _ = withUnsafeMutablePointer(to: &actual) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listener, $0, &length) }
    }
    self.listener = listener
    self.port = UInt16(bigEndian: actual.sin_port)
  }

  deinit { close(listener) }

  /// Answers requests for ever.
  /// - Parameter metrics: the text of one scrape.
  package func serve(_ metrics: () -> String) {
    signal(SIGPIPE, SIG_IGN)
    while true {
      let client = accept(listener, nil, nil)
      guard client >= 0 else {
        if errno == EINTR || errno == ECONNABORTED { continue }
        // Out of descriptors: others may be closed meanwhile.
        usleep(100_000)
        continue
      }
      answer(client, metrics)
      close(client)
    }
  }

  private func answer(_ client: Int32, _ metrics: () -> String) {
    var limit = timeval(tv_sec: 1, tv_usec: 0)
    setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    let head = request(client)
    let words = head.split(separator: " ", maxSplits: 2)
    let (status, body): (String, String) =
      if words.count < 3 { ("400 Bad Request", "this is an HTTP server for metrics; ask for /metrics\n") }
      else if words[0] != "GET" { ("405 Method Not Allowed", "only GET\n") }
      else if words[1] == "/metrics" || words[1].hasPrefix("/metrics?") { ("200 OK", metrics()) }
      else { ("404 Not Found", "ask for /metrics\n") }
    var answer = """
      HTTP/1.1 \(status)\r
      Content-Type: text/plain; version=0.0.4; charset=utf-8\r
      Content-Length: \(body.utf8.count)\r
      Connection: close\r
      \r\n
      """
    answer += body
    answer.withUTF8 { bytes in
      var done = 0
      while done < bytes.count {
        let count = send(client, bytes.baseAddress! + done, bytes.count - done, Int32(MSG_NOSIGNAL))
        if count <= 0 { return }
        done += count
      }
    }
  }

  /// The request's first line; empty when none came.
  private func request(_ client: Int32) -> String {
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 2048)
    while bytes.count < 8192 {
      let count = recv(client, &part, part.count, 0)
      if count <= 0 { break }
      bytes += part[..<count]
      let text = String(decoding: bytes, as: UTF8.self)
      if text.contains("\r\n\r\n") || text.contains("\n\n") { break }
    }
    return String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).first.map(String.init) ?? ""
  }
}
