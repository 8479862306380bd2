// PatchSource — the text of a patch, where it came from, and what its header says: all that is read before anything of it runs.
//
// A source is made of bytes; who read them says where they are from. Files are read by `PatchFiles`.
internal import HookRuntime
private import Glibc
package import Journal

/// Where the text of a patch came from.
package struct PatchProvenance: Sendable {
  /// What names it, and beside what its presets are looked for: the file; of a directory that is one patch, its `patch.lua`. It need not exist.
  package let path: RawPath
  /// Its modules are found here: a directory that is one patch. Nil for a single text.
  package let directory: RawPath?
  /// When it was last changed, ns since 1970; 0: nobody knows.
  package let changed: UInt64

  package init(path: RawPath, directory: RawPath? = nil, changed: UInt64 = 0) {
    self.path = path
    self.directory = directory
    self.changed = changed
  }
}

/// A patch that was read and not run.
package struct PatchSource: Sendable {
  package let source: [UInt8]
  package let header: PatchHeader
  private let provenance: PatchProvenance

  package var path: RawPath { provenance.path }
  package var directory: RawPath? { provenance.directory }
  package var changed: UInt64 { provenance.changed }
  package var fileName: String { String(decoding: path.lastComponent, as: UTF8.self) }
  /// In positions and messages: of a directory that is one patch, with its name.
  package var chunkName: String { (directory.map { String(decoding: $0.lastComponent, as: UTF8.self) + "/" } ?? "") + fileName }
  /// The header's id, or what stands in for it.
  package var id: String { header.id ?? (directory.map { String(decoding: $0.lastComponent, as: UTF8.self) } ?? fileName) }

  /// Longest source the host reads; the interpreter's own limit is the same.
  static let longest = 128 << 10
  /// The file of a directory that is one patch.
  static let mainFile = "patch.lua"

  /// Reads the header of a text.
  package init(_ bytes: [UInt8], from provenance: PatchProvenance) throws(PatchError) {
    try Self.check(bytes.count, first: bytes.first, of: provenance.path)
    self.provenance = provenance
    source = bytes
    header = try PatchHeader(source: bytes, fileName: String(decoding: provenance.path.lastComponent, as: UTF8.self))
  }

  /// What no text of a patch may be, wherever it is from: too long, or bytecode.
  private static func check(_ count: Int, first: UInt8?, of path: RawPath) throws(PatchError) {
    if count > longest { throw .unreadable(path: path.description, why: "\(count) bytes, a patch has at most \(longest)") }
    if first == 0x1B { throw .unreadable(path: path.description, why: "bytecode, expected Lua source text") }
  }

  /// The text of an ordinary file that is no bytecode.
  static func bytes(of path: RawPath) throws(PatchError) -> [UInt8] {
    var status = stat()
    let descriptor = path.withCString { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
    guard descriptor >= 0 else { throw .unreadable(path: path.description, why: text(errno)) }
    defer { close(descriptor) }
    guard fstat(descriptor, &status) == 0 else { throw .unreadable(path: path.description, why: text(errno)) }
    switch status.st_mode & S_IFMT {
    case S_IFREG: break
    case S_IFDIR: throw .unreadable(path: path.description, why: "a directory, expected a Lua file")
    default: throw .unreadable(path: path.description, why: "not an ordinary file, expected a Lua file")
    }
    try check(Int(status.st_size), first: nil, of: path)
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    var done = 0
    while done < bytes.count {
      let n = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress! + done, $0.count - done) }
      if n < 0 && errno == EINTR { continue }
      if n <= 0 { break }
      done += n
    }
    bytes.removeLast(bytes.count - done)
    try check(bytes.count, first: bytes.first, of: path)
    return bytes
  }

  fileprivate static func text(_ code: Int32) -> String { String(cString: strerror(code)) }
}

/// What a path of the command line stands for.
package enum PatchFiles {
  /// A file, or a directory that is one patch.
  package struct Place: Hashable, Sendable {
    package let path: RawPath
    package let directory: RawPath?

    /// Of the file, or of the directory that is the patch.
    package var name: String { String(decoding: (directory ?? path).lastComponent, as: UTF8.self) }
  }

  /// Reads the file of a place and its header.
  package static func source(at place: Place) throws(PatchError) -> PatchSource {
    // Before it is read: what is written meanwhile counts as changed.
    let changed = changed(place.path) ?? 0
    return try PatchSource(
      try PatchSource.bytes(of: place.path), from: PatchProvenance(path: place.path, directory: place.directory, changed: changed))
  }

  /// The patches that a path stands for: itself, a directory with `patch.lua`, or each `*.lua` and each such directory in it, by name.
  /// Paths are bytes: a name need not be UTF-8.
  package static func places(_ path: RawPath) throws(PatchError) -> [Place] {
    guard let status = path.status() else { throw .unreadable(path: path.description, why: PatchSource.text(errno)) }
    guard status.st_mode & S_IFMT == S_IFDIR else { return [Place(path: path, directory: nil)] }
    if let unit = unit(path) { return [unit] }
    guard let directory = path.withCString({ opendir($0) }) else {
      throw .unreadable(path: path.description, why: PatchSource.text(errno))
    }
    closedir(directory)
    return path.directoryEntries().filter { $0.first != UInt8(ascii: ".") }.sorted { $0.lexicographicallyPrecedes($1) }.compactMap {
      let entry = path.appending($0)
      if $0.count > 4, $0.suffix(4) == Array(".lua".utf8)[...] { return Place(path: entry, directory: nil) }
      return unit(entry)
    }
  }

  /// A number that tells the text of a place, with its modules and settings, from other texts: this process's own.
  static func text(of place: Place) -> Int {
    var hasher = Hasher()
    func add(_ path: RawPath) {
      let bytes = try? PatchSource.bytes(of: path)
      hasher.combine(bytes?.count)
      // All bytes at once: an array is combined one by one.
      bytes?.withUnsafeBytes { hasher.combine(bytes: $0) }
    }
    add(place.path)
    add(PatchConfig.file(of: place))
    for folder in place.directory.map(folders) ?? [] {
      for name in folder.directoryEntries().sorted(by: { $0.lexicographicallyPrecedes($1) }) where name.suffix(4) == Array(".lua".utf8)[...] {
        hasher.combine(name)
        add(folder.appending(name))
      }
    }
    return hasher.finalize()
  }

  /// When the files of the patch with this path were last changed, ns since 1970: its text, its settings and, where its directory is the patch,
  /// its modules. Nil: there is none.
  package static func changed(_ path: RawPath) -> UInt64? {
    guard let own = path.status() else { return nil }
    let unit = path.lastComponent == Array(PatchSource.mainFile.utf8) ? unit(path.parent) : nil
    let others = [PatchConfig.file(of: unit ?? Place(path: path, directory: nil))] + (unit?.directory.map(folders) ?? []).flatMap { scripts(in: $0) }
    return ([own] + others.compactMap { $0.status() }).map {
      UInt64(clamping: $0.st_mtim.tv_sec) &* 1_000_000_000 &+ UInt64(clamping: $0.st_mtim.tv_nsec)
    }.max()
  }

  /// The folder of a patch's directory whose files have its tests.
  package static let testsFolder = "tests"

  /// The files of a patch's tests, by name: ordinary files that end in `.lua`, behind no symbolic link.
  package static func tests(in directory: RawPath) -> [RawPath] {
    let folder = directory.appending(testsFolder)
    guard isPlain(folder, S_IFDIR) else { return [] }
    return scripts(in: folder).filter { isPlain($0, S_IFREG) }
  }

  /// All scripts of a patch that is a directory: its own text, those of its modules, its tests. What is behind a symbolic link is no module.
  package static func scripts(of directory: RawPath) -> [RawPath] {
    let main = directory.appending(PatchSource.mainFile)
    return folders(in: directory).flatMap { scripts(in: $0) }.filter { $0 == main || isPlain($0, S_IFREG) } + tests(in: directory)
  }

  private static func scripts(in folder: RawPath) -> [RawPath] {
    folder.directoryEntries().filter { $0.first != UInt8(ascii: ".") && $0.suffix(4) == Array(".lua".utf8)[...] }
      .sorted { $0.lexicographicallyPrecedes($1) }.map { folder.appending($0) }
  }

  private static func isPlain(_ path: RawPath, _ kind: mode_t) -> Bool {
    var status = stat()
    return path.withCString { lstat($0, &status) } == 0 && status.st_mode & S_IFMT == kind
  }

  /// A patch's directory and the folders of its modules, at most 64.
  static func folders(in directory: RawPath) -> [RawPath] {
    var found = [directory]
    var next = 0
    while next < found.count, found.count < 64 {
      let folder = found[next]
      next += 1
      for name in folder.directoryEntries().sorted(by: { $0.lexicographicallyPrecedes($1) })
      where name.first != UInt8(ascii: ".") && name != Array(testsFolder.utf8) {
        var status = stat()
        let path = folder.appending(name)
        guard path.withCString({ lstat($0, &status) }) == 0, status.st_mode & S_IFMT == S_IFDIR else { continue }
        found.append(path)
      }
    }
    return found
  }

  /// The directory as one patch; nil: it is none.
  package static func unit(_ directory: RawPath) -> Place? {
    let main = directory.appending(PatchSource.mainFile)
    guard let status = main.status(), status.st_mode & S_IFMT == S_IFREG else { return nil }
    return Place(path: main, directory: directory)
  }
}
