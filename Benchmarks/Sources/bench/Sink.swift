// Sink — a server that takes whatever it is sent over HTTP and answers 200: what exporters send to, and clients ask.
import Glibc

struct Sink {
  let port: UInt16
  var url: String { "http://127.0.0.1:\(port)" }

  /// Listens on a free port until the process ends.
  init() {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, length) == 0 && listen(listener, 16) == 0 && getsockname(listener, $0, &length) == 0 }
    }
    guard listener >= 0, isBound else { fail("no port to listen on: \(String(cString: strerror(errno)))") }
    port = UInt16(bigEndian: address.sin_port)
    Self.start(listener) { listener in
      while true {
        let connection = accept(listener, nil, nil)
        if connection >= 0 { Self.start(connection, Self.serve) }
      }
    }
  }

  private static func start(_ descriptor: Int32, _ body: @escaping (Int32) -> Void) {
    final class Work { let body: () -> Void; init(_ body: @escaping () -> Void) { self.body = body } }
    var thread = pthread_t()
    pthread_create(
      &thread, nil, { Unmanaged<Work>.fromOpaque($0!).takeRetainedValue().body(); return nil },
      Unmanaged.passRetained(Work { body(descriptor) }).toOpaque())
    pthread_detach(thread)
  }

  private static func serve(_ connection: Int32) {
    var yes: Int32 = 1
    setsockopt(connection, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
    defer { close(connection) }
    let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".utf8), proceed = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)
    var held: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65536)
    /// False at the end of the connection.
    func more() -> Bool {
      let count = read(connection, &buffer, buffer.count)
      if count > 0 { held += buffer[..<count] }
      return count > 0
    }
    while true {
      var head: Int?
      while head == nil {
        head = held.indices.dropLast(3).first { held[$0] == 13 && held[$0 + 1] == 10 && held[$0 + 2] == 13 && held[$0 + 3] == 10 }
        if head == nil, !more() { return }
      }
      let lines = String(decoding: held[..<head!], as: UTF8.self).lowercased().split(separator: "\r\n")
      let length = lines.first { $0.hasPrefix("content-length:") }.flatMap { Int($0.dropFirst(15).drop { $0 == " " }) } ?? 0
      if lines.contains(where: { $0.hasPrefix("expect: 100-continue") }) { _ = proceed.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) } }
      while held.count < head! + 4 + length { if !more() { return } }
      held.removeFirst(head! + 4 + length)
      if answer.withUnsafeBytes({ send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }) < 0 { return }
    }
  }
}
