// ProgramFile — finds the program a person named, as a shell does, and refuses
// files that cannot be started with a library preloaded.
internal import Glibc
internal import Journal
internal import ScriptHost

/// A file that can be executed.
struct ProgramFile {
  /// The path by which it is executed.
  let path: RawPath
  /// The absolute path without symbolic links: what /proc/self/exe will say.
  let realPath: RawPath
  let status: stat

  /// Finds the program. A name without a slash is looked up in PATH.
  /// - Parameter runs: false for files that are only read, as libraries are: these need not be executable.
  init(named name: [UInt8], runs: Bool = true) throws(Failure) {
    let shown = EventText.printable(String(decoding: name, as: UTF8.self))
    let path = try Self.find(name, shown)
    guard let status = path.status() else { throw Self.missing(shown, errno) }
    try Self.checkKind(status, shown)
    guard path.withCString({ access($0, runs ? X_OK : R_OK) }) == 0 else {
      guard runs else { throw .refused("'\(shown)' cannot be read, \(systemMessage(errno)); check its permissions") }
      throw .refused("'\(shown)' is not executable (\(systemMessage(errno))); chmod +x it, or name another file")
    }
    guard let real = path.withCString({ realpath($0, nil) }) else { throw Self.missing(shown, errno) }
    defer { free(real) }
    self.path = path
    self.status = status
    realPath = RawPath(UnsafeRawBufferPointer(start: real, count: strlen(real)))
    try checkPrivileges(shown)
  }

  /// The path as sentences show it.
  var shown: String { EventText.printable(path.description) }

  private var hasFileCapabilities: Bool {
    // The C library's type of getxattr; the Glibc module does not have its header.
    typealias GetAttribute = @convention(c) (UnsafePointer<CChar>, UnsafePointer<CChar>, UnsafeMutableRawPointer?, Int) -> Int
    guard let symbol = dlsym(nil, "getxattr") else { return false }
    let getAttribute = unsafeBitCast(symbol, to: GetAttribute.self)
    return path.withCString { getAttribute($0, "security.capability", nil, 0) } > 0
  }

  private static func find(_ name: [UInt8], _ shown: String) throws(Failure) -> RawPath {
    if name.contains(UInt8(ascii: "/")) { return RawPath(name) }
    let search = getenv("PATH").map { String(cString: $0) } ?? "/bin:/usr/bin"
    var unusable: RawPath?
    for directory in search.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false) {
      let candidate = directory.isEmpty ? RawPath("./").appending(name) : RawPath(directory).appending(name)
      guard let status = candidate.status(), status.st_mode & S_IFMT != S_IFDIR else { continue }
      if candidate.withCString({ access($0, X_OK) }) == 0 { return candidate }
      unusable = unusable ?? candidate
    }
    if let unusable { return unusable }
    let here = RawPath(name).status() != nil ? "; for the file in this directory write './\(shown)'" : "; check the name and PATH"
    throw .notFound("no program '\(shown)' in PATH\(here)")
  }

  private static func missing(_ shown: String, _ code: Int32) -> Failure {
    code == ENOENT || code == ENOTDIR
      ? .notFound("no program '\(shown)'; check the path")
      : .refused("'\(shown)' cannot be looked at, \(systemMessage(code)); check the permissions of its directory")
  }

  private static func checkKind(_ status: stat, _ shown: String) throws(Failure) {
    switch status.st_mode & S_IFMT {
    case S_IFREG: return
    case S_IFDIR: throw .refused("'\(shown)' is a directory; name the program in it")
    default: throw .refused("'\(shown)' is no regular file; name a program")
    }
  }

  /// The loader ignores LD_PRELOAD where a program gains rights by being started.
  private func checkPrivileges(_ shown: String) throws(Failure) {
    if status.st_mode & S_ISUID != 0, status.st_uid != getuid() {
      throw .refused("'\(shown)' is set-uid, and the loader preloads nothing into it; run a copy without the bit: cp '\(shown)' .")
    }
    if status.st_mode & S_ISGID != 0, status.st_mode & S_IXGRP != 0, status.st_gid != getgid() {
      throw .refused("'\(shown)' is set-gid, and the loader preloads nothing into it; run a copy without the bit: cp '\(shown)' .")
    }
    if getuid() != 0, hasFileCapabilities {
      throw .refused("'\(shown)' has file capabilities, and the loader preloads nothing into it; run a copy without them: cp '\(shown)' .")
    }
  }
}
