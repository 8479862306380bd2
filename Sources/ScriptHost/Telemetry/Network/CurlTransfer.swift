// CurlTransfer — what libcurl tells of a transfer that is over. URLSession on Linux is made with it.
private import Glibc

/// Functions of the libcurl that is in the program, found by name.
struct Curl: Sendable {
  /// CURLcode curl_easy_getinfo(CURL *, CURLINFO, …): the one variadic argument is an address.
  let information: @convention(c) (UnsafeMutableRawPointer, UInt32, UnsafeMutableRawPointer) -> Int32
  /// struct curl_slist *curl_slist_append(struct curl_slist *, const char *)
  let append: @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>) -> UnsafeMutableRawPointer?

  /// Nil where the program has none.
  static let loaded: Curl? = {
    guard let library = dlopen("libcurl.so.4", RTLD_LAZY | RTLD_NOLOAD), let information = dlsym(library, "curl_easy_getinfo"),
      let append = dlsym(library, "curl_slist_append")
    else { return nil }
    return Curl(
      information: unsafeBitCast(information, to: (@convention(c) (UnsafeMutableRawPointer, UInt32, UnsafeMutableRawPointer) -> Int32).self),
      append: unsafeBitCast(append, to: (@convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>) -> UnsafeMutableRawPointer?).self))
  }()

  /// A number that libcurl tells of the transfer; 0 where it does not.
  func long(_ number: UInt32, _ handle: UnsafeMutableRawPointer) -> Int {
    var value = 0
    return information(handle, 0x200000 + number, &value) == 0 ? value : 0
  }
  /// A number of bytes or microseconds that libcurl tells of the transfer; 0 where it does not.
  func large(_ number: UInt32, _ handle: UnsafeMutableRawPointer) -> UInt64 {
    var value: Int64 = 0
    return information(handle, 0x600000 + number, &value) == 0 ? UInt64(max(0, value)) : 0
  }
  /// A text that libcurl tells of the transfer, which it keeps; empty where there is none.
  func text(_ number: UInt32, _ handle: UnsafeMutableRawPointer) -> String {
    var value: UnsafePointer<CChar>?
    return information(handle, 0x100000 + number, &value) == 0 ? value.map { String(cString: $0) } ?? "" : ""
  }
}

/// One transfer; a task has several where it is redirected or asked for a password. Times are nanoseconds since the transfer began; what
/// did not happen is nil: a connection may be an old one.
struct CurlTransfer: Sendable {
  let url: String
  let method: String
  let status: Int?
  let proto: String
  let sent: UInt64
  let received: UInt64
  let dns: UInt64?
  let connect: UInt64?
  let tls: UInt64?
  let firstByte: UInt64?
  let total: UInt64

  /// Asks the handle, which must not be at work.
  init(_ handle: UnsafeMutableRawPointer, _ curl: Curl) {
    func time(_ number: UInt32) -> UInt64? {
      let microseconds = curl.large(number, handle)
      return microseconds == 0 ? nil : microseconds * 1000
    }
    url = curl.text(1, handle)
    method = curl.text(58, handle)
    let code = curl.long(2, handle)
    status = code == 0 ? nil : code
    proto = [1: "http/1.0", 2: "http/1.1", 3: "h2", 30: "h3"][curl.long(46, handle)] ?? ""
    sent = curl.large(7, handle)
    received = curl.large(8, handle)
    let isNewConnection = curl.long(26, handle) > 0
    dns = isNewConnection ? time(51) : nil
    connect = isNewConnection ? time(52) : nil
    tls = isNewConnection ? time(56) : nil
    firstByte = time(54)
    total = curl.large(50, handle) * 1000
  }
}

/// The parts of a URL's text that records have.
struct URLParts {
  /// It has neither user nor password, query or fragment.
  var shown: String
  var host = ""
  var port: Int?

  init(_ text: String) {
    let plain = text.prefix { $0 != "?" && $0 != "#" }
    shown = String(plain)
    guard let mark = plain.firstRange(of: "://") else { return }
    let scheme = plain[..<mark.lowerBound].lowercased()
    let rest = plain[mark.upperBound...]
    let authority = rest.prefix { $0 != "/" }
    let place = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
    shown = "\(scheme)://\(place)\(rest.dropFirst(authority.count))"
    if let colon = place.lastIndex(of: ":"), let number = Int(place[place.index(after: colon)...]) {
      (host, port) = (String(place[..<colon]), number)
    } else {
      (host, port) = (String(place), ["http": 80, "https": 443, "ftp": 21][scheme])
    }
  }
}
