// PatchLoader — finds patch files and loads them in order; a bad file never stops the others.
internal import HookRuntime
private import Glibc
package import Journal

package struct PatchLoader {
  private let log: HostLog
  private let program: String
  package private(set) var loaded: [Patch] = []
  package private(set) var refused: [String] = []

  package init(log: HostLog, program: String) {
    self.log = log
    self.program = program
  }

  /// One file that was read.
  private struct Candidate {
    var path: RawPath
    var source: [UInt8]
    var header: PatchHeader
  }

  /// Loads what the paths name: files, or directories of `*.lua`. By declared priority (higher first), then by
  /// position on the command line, then by name.
  package mutating func load(_ paths: [RawPath]) {
    var candidates: [Candidate] = []
    for path in paths {
      for file in files(path) {
        do throws(PatchError) { candidates.append(try read(file)) } catch { refuse(error) }
      }
    }
    let ordered = candidates.enumerated().sorted {
      ($1.element.header.priority, $0.offset) < ($0.element.header.priority, $1.offset)
    }
    var ids: [String: String] = [:]
    for (_, candidate) in ordered {
      if let id = candidate.header.id, let other = ids.updateValue(candidate.path.description, forKey: id) {
        ids[id] = other
        refuse(.header("\(candidate.path): id '\(id)' is taken by '\(other)'; give each patch its own"))
        continue
      }
      do throws(PatchError) { loaded.append(try start(candidate)) } catch { refuse(error) }
    }
  }

  private mutating func refuse(_ error: PatchError) {
    refused.append(error.description)
    log.say(error.description)
    log.append(.failure, "patch refused") { $0.add("message", error.description) }
  }

  private func start(_ candidate: Candidate) throws(PatchError) -> Patch {
    let patch = try Patch(path: candidate.path.description, header: candidate.header, log: log)
    try patch.run(candidate.source)
    log.note("patch loaded", "\(patch.fileName): loaded, \(patch.hookCount) hook\(patch.hookCount == 1 ? "" : "s")\(patch.waitingText)")
    return patch
  }

  // MARK: Files

  /// The files a path stands for. Paths are bytes: a name need not be UTF-8.
  private mutating func files(_ path: RawPath) -> [RawPath] {
    guard let status = path.status() else {
      refuse(.unreadable(path: path.description, why: Self.text(errno)))
      return []
    }
    guard status.st_mode & S_IFMT == S_IFDIR else { return [path] }
    guard let directory = path.withCString({ opendir($0) }) else {
      refuse(.unreadable(path: path.description, why: Self.text(errno)))
      return []
    }
    defer { closedir(directory) }
    var names: [[UInt8]] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
        Array(UnsafeRawBufferPointer(start: name, count: strlen(UnsafeRawPointer(name).assumingMemoryBound(to: CChar.self))))
      }
      if name.count > 4, name.suffix(4) == Array(".lua".utf8)[...], name.first != UInt8(ascii: ".") { names.append(name) }
    }
    if names.isEmpty { log.note("no patches", "'\(path)' has no patches; a patch is a file that ends in .lua") }
    return names.sorted { $0.lexicographicallyPrecedes($1) }.map { path.appending($0) }
  }

  /// Longest source the host reads; the interpreter's own limit is the same.
  private static let longest = 128 << 10

  private func read(_ path: RawPath) throws(PatchError) -> Candidate {
    var status = stat()
    let descriptor = path.withCString { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
    guard descriptor >= 0 else { throw .unreadable(path: path.description, why: Self.text(errno)) }
    defer { close(descriptor) }
    guard fstat(descriptor, &status) == 0 else { throw .unreadable(path: path.description, why: Self.text(errno)) }
    switch status.st_mode & S_IFMT {
    case S_IFREG: break
    case S_IFDIR: throw .unreadable(path: path.description, why: "a directory, expected a Lua file")
    default: throw .unreadable(path: path.description, why: "not an ordinary file, expected a Lua file")
    }
    guard status.st_size <= Self.longest else {
      throw .unreadable(path: path.description, why: "\(status.st_size) bytes, a patch has at most \(Self.longest)")
    }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    var done = 0
    while done < bytes.count {
      let n = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress! + done, $0.count - done) }
      if n < 0 && errno == EINTR { continue }
      if n <= 0 { break }
      done += n
    }
    bytes.removeLast(bytes.count - done)
    let name = String(decoding: path.lastComponent, as: UTF8.self)
    if bytes.first == 0x1B { throw .unreadable(path: path.description, why: "bytecode, expected Lua source text") }
    let header = try PatchHeader(source: bytes, fileName: name)
    if let wanted = header.program, wanted != program {
      throw .otherTarget("\(name): made for program '\(wanted)', this is '\(program)'; not loaded")
    }
    return Candidate(path: path, source: bytes, header: header)
  }

  private static func text(_ code: Int32) -> String { String(cString: strerror(code)) }
}
