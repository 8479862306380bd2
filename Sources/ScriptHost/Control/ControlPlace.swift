// ControlPlace — where control sockets are: a directory of the user's own, one socket for each hosted process, named by its pid.
package import Glibc
package import Journal

/// Finds and makes the directories. The host and the command agree by this file.
package enum ControlPlace {
  /// Where a process listens, best first: $XDG_RUNTIME_DIR/scripthost, then the folder "control" of the state directory.
  package static func directories(state: RawPath?) -> [RawPath] {
    var found: [RawPath] = []
    if let value = getenv("XDG_RUNTIME_DIR") {
      let path = RawPath(UnsafeRawBufferPointer(start: value, count: strlen(value)))
      if path.isAbsolute { found.append(path.appending("scripthost")) }
    }
    if let state { found.append(state.appending("control")) }
    return found
  }

  /// The socket's name.
  package static func name(pid: pid_t) -> String { "\(pid).sock" }
  /// The socket's name until it listens.
  package static func unreadyName(pid: pid_t) -> String { "\(pid).new" }
  /// The pid in a socket's name.
  package static func pid(of name: [UInt8]) -> pid_t? {
    guard name.suffix(5) == Array(".sock".utf8)[...] else { return nil }
    return pid_t(String(decoding: name.dropLast(5), as: UTF8.self))
  }

  /// Makes the directory for its owner alone.
  /// - Returns: why it cannot be used; nil when it can.
  package static func prepare(_ directory: RawPath) -> String? {
    guard directory.makeDirectories() else { return "'\(directory)' cannot be made, \(systemMessage(errno))" }
    return problem(directory)
  }

  /// Why a directory is not trusted; nil when only its owner, the user of this process, can do anything in it.
  package static func problem(_ directory: RawPath) -> String? {
    var status = stat()
    guard directory.withCString({ lstat($0, &status) }) == 0 else { return "'\(directory)', \(systemMessage(errno))" }
    guard status.st_mode & S_IFMT == S_IFDIR else { return "'\(directory)' is no directory" }
    guard status.st_uid == geteuid() else { return "'\(directory)' belongs to another user" }
    guard status.st_mode & 0o077 == 0 else { return "'\(directory)' is open to others; take their permissions away (chmod 700)" }
    return nil
  }

  /// Calls `body` with the address of a socket. A path longer than addresses are goes by way of the directory's descriptor.
  package static func withAddress<R>(_ directory: RawPath, _ name: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R? {
    var path = directory.appending(name)
    var opened: Int32 = -1
    defer { if opened >= 0 { close(opened) } }
    if path.bytes.count > 107 {
      opened = directory.withCString { open($0, 0o10000000 /* O_PATH */ | O_DIRECTORY | O_CLOEXEC) }
      guard opened >= 0 else { return nil }
      path = RawPath("/proc/thread-self/fd/\(opened)/\(name)")
    }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.bytes) }
    // A sockaddr_un is passed as the sockaddr that it begins with.
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
  }

  /// A connection to a socket; -1 with errno.
  package static func connect(_ directory: RawPath, _ name: String) -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
    guard descriptor >= 0 else { return -1 }
    let status = withAddress(directory, name) { Glibc.connect(descriptor, $0, $1) }
    if status == 0 { return descriptor }
    let code = errno
    close(descriptor)
    errno = code
    return -1
  }

  /// Who is at the other end of a connection; nil when the kernel does not say.
  package static func peer(_ descriptor: Int32) -> ControlPeer? {
    // struct ucred, which Swift does not see: pid, uid, gid.
    var words: (pid_t, uid_t, gid_t) = (0, .max, .max)
    var size = socklen_t(MemoryLayout.size(ofValue: words))
    guard getsockopt(descriptor, SOL_SOCKET, 17 /* SO_PEERCRED */, &words, &size) == 0 else { return nil }
    return ControlPeer(user: words.1, process: words.0)
  }
}
