// LaunchCheck — reads just enough of an ELF file to know whether ScriptHost can
// live in the program: processor, Swift runtime as a library, compiler.
//
// Everything in the file is untrusted: each offset is checked before it is used.
internal import Glibc
internal import ScriptHost

/// A file read piece by piece.
struct FileBytes: ~Copyable {
  private let descriptor: Int32
  /// Size in bytes.
  let size: UInt64

  /// nil when it cannot be opened, with errno set.
  init?(_ path: RawPath) {
    descriptor = path.withCString { open($0, O_RDONLY | O_CLOEXEC | O_NONBLOCK) }
    guard descriptor >= 0 else { return nil }
    var status = stat()
    size = fstat(descriptor, &status) == 0 ? UInt64(max(0, status.st_size)) : 0
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Exactly `count` bytes, at most 64 MiB, or nil.
  func read(_ offset: UInt64, _ count: UInt64) -> [UInt8]? {
    guard offset <= size, count <= size - offset, count <= 64 << 20 else { return nil }
    let wanted = Int(count)
    let bytes = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, filled in
      while filled < wanted {
        let got = pread(descriptor, buffer.baseAddress! + filled, wanted - filled, off_t(offset) + off_t(filled))
        guard got > 0 else { break }
        filled += got
      }
    }
    return bytes.count == wanted ? bytes : nil
  }
}

extension [UInt8] {
  /// A little-endian number; 0 beyond the end.
  fileprivate func number<T: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, _: T.Type) -> T {
    guard offset >= 0, offset + T.bitWidth / 8 <= count else { return 0 }
    return withUnsafeBytes { T(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: T.self)) }
  }

  /// Text up to the next NUL; empty beyond the end.
  fileprivate func text(_ offset: Int) -> String {
    guard offset >= 0, offset < count else { return "" }
    return String(decoding: self[offset...].prefix { $0 != 0 }, as: UTF8.self)
  }
}

/// What the launch needs to know of an ELF file.
struct LaunchFacts {
  /// e_machine; 62 is x86-64.
  private(set) var machine: UInt16 = 0
  private(set) var is64Bit = false
  /// Path of the loader, nil for a static program.
  private(set) var interpreter: String?
  /// Names of the libraries it asks for.
  private(set) var needed: [String] = []
  /// DT_RUNPATH, or DT_RPATH where there is no other.
  private(set) var runPath: [String] = []
  /// Whether it holds Swift types or code.
  private(set) var hasSwiftSections = false
  /// Whether it has a symbol table beyond the dynamic one.
  private(set) var hasSymbols = false
  /// Lower-case hexadecimal, nil when there is none.
  private(set) var buildID: String?
  /// Commits of Swift's LLVM named in .comment: one per compiler that made a part of it.
  private(set) var compilers: Set<String> = []

  /// Facts of a file; nil when it is no ELF file or its tables point outside it.
  init?(_ file: borrowing FileBytes) {
    guard let header = file.read(0, 64), header.starts(with: [0x7f, 0x45, 0x4c, 0x46]) else { return nil }
    is64Bit = header[4] == 2
    machine = header.number(18, UInt16.self)
    guard is64Bit, header[5] == 1 else { return }
    let segments = Self.table(
      file, at: header.number(32, UInt64.self), size: header.number(54, UInt16.self), count: header.number(56, UInt16.self),
      minimum: 56)
    readSegments(segments, file)
    let sections = Self.table(
      file, at: header.number(40, UInt64.self), size: header.number(58, UInt16.self), count: header.number(60, UInt16.self),
      minimum: 64)
    readSections(sections, names: Int(header.number(62, UInt16.self)), file)
  }

  /// Facts of the file at a path; nil when it cannot be read or is no ELF file.
  init?(path: RawPath) {
    guard let file = FileBytes(path) else { return nil }
    self.init(file)
  }

  private static func table(
    _ file: borrowing FileBytes, at offset: UInt64, size: UInt16, count: UInt16, minimum: UInt16
  ) -> [[UInt8]] {
    guard size >= minimum, count > 0, let bytes = file.read(offset, UInt64(size) * UInt64(count)) else { return [] }
    return (0..<Int(count)).map { Array(bytes[($0 * Int(size))..<(($0 + 1) * Int(size))]) }
  }

  // MARK: Segments

  private mutating func readSegments(_ segments: [[UInt8]], _ file: borrowing FileBytes) {
    var loads: [(address: UInt64, size: UInt64, offset: UInt64)] = []
    var dynamic: [UInt8] = []
    for segment in segments {
      let offset = segment.number(8, UInt64.self), size = segment.number(32, UInt64.self)
      switch segment.number(0, UInt32.self) {
      case 1: loads.append((segment.number(16, UInt64.self), size, offset))
      case 2: dynamic = file.read(offset, size) ?? []
      case 3: interpreter = file.read(offset, min(size, 4096))?.text(0)
      case 4: readNotes(file.read(offset, min(size, 1 << 16)) ?? [])
      default: break
      }
    }
    readDynamic(dynamic, file) { address in
      loads.first { address >= $0.address && address - $0.address < $0.size }.map { $0.offset + (address - $0.address) }
    }
  }

  private mutating func readDynamic(_ bytes: [UInt8], _ file: borrowing FileBytes, offset: (UInt64) -> UInt64?) {
    var entries: [(tag: UInt64, value: UInt64)] = []
    for place in stride(from: 0, to: bytes.count - 15, by: 16) {
      let tag = bytes.number(place, UInt64.self)
      if tag == 0 { break }
      entries.append((tag, bytes.number(place + 8, UInt64.self)))
    }
    func value(_ tag: UInt64) -> UInt64? { entries.first { $0.tag == tag }?.value }
    guard let address = value(5), let size = value(10), let start = offset(address),
      let strings = file.read(start, size)
    else { return }
    needed = entries.filter { $0.tag == 1 }.map { strings.text(Int(clamping: $0.value)) }
    if let path = value(29) ?? value(15) {
      runPath = strings.text(Int(clamping: path)).split(separator: ":").map(String.init)
    }
  }

  private mutating func readNotes(_ notes: [UInt8]) {
    var place = 0
    while place + 12 <= notes.count {
      let nameSize = Int(notes.number(place, UInt32.self)), size = Int(notes.number(place + 4, UInt32.self))
      let start = place + 12 + (nameSize + 3) & ~3
      guard start <= notes.count, size <= notes.count - start else { return }
      if notes.number(place + 8, UInt32.self) == 3, notes.text(place + 12) == "GNU" {
        buildID = notes[start..<(start + size)].map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
      }
      place = start + (size + 3) & ~3
    }
  }

  // MARK: Sections

  private mutating func readSections(_ sections: [[UInt8]], names: Int, _ file: borrowing FileBytes) {
    guard names < sections.count else { return }
    let nameTable = file.read(sections[names].number(24, UInt64.self), sections[names].number(32, UInt64.self)) ?? []
    for section in sections {
      let name = nameTable.text(Int(section.number(0, UInt32.self)))
      let size = section.number(32, UInt64.self)
      if name.hasPrefix("swift5_"), size > 0 { hasSwiftSections = true }
      if section.number(4, UInt32.self) == 2 { hasSymbols = true }
      if name == ".comment" { readComment(file.read(section.number(24, UInt64.self), min(size, 1 << 20)) ?? []) }
    }
  }

  /// "clang version 21.0.0 (https://github.com/swiftlang/llvm-project.git <commit>)"
  private mutating func readComment(_ bytes: [UInt8]) {
    for line in bytes.split(separator: 0) {
      let text = String(decoding: line, as: UTF8.self)
      guard text.contains("swift"), text.contains("llvm-project"), let commit = text.split(separator: " ").last
      else { continue }
      compilers.insert(String(commit.prefix { $0.isHexDigit }))
    }
  }
}

/// Whether ScriptHost can live in a program, and with which runtime.
struct LaunchCheck {
  let program: ProgramFile
  let facts: LaunchFacts
  /// Where the loader will find libswiftCore.so.
  let runtime: RawPath
  let runtimeBuildID: String?

  /// Checks a program; each refusal is one sentence with advice.
  init(_ program: ProgramFile) throws(Failure) {
    self.program = program
    facts = try Self.readFacts(program)
    runtime = try Self.findRuntime(program, facts)
    runtimeBuildID = LaunchFacts(path: runtime)?.buildID
    try checkCompiler()
  }

  private static func readFacts(_ program: ProgramFile) throws(Failure) -> LaunchFacts {
    let shown = program.shown
    guard let file = FileBytes(program.path) else {
      throw .refused("'\(shown)' cannot be read, \(systemMessage(errno)); ScriptHost needs to read what it opens")
    }
    if let start = file.read(0, min(256, file.size)), start.starts(with: "#!".utf8) {
      let line = String(decoding: start.dropFirst(2).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
      let interpreter = EventText.printable(line.split(separator: " ").first.map(String.init) ?? "")
      throw .refused("'\(shown)' is a script for '\(interpreter)'; name the Swift program that it starts")
    }
    guard let facts = LaunchFacts(file) else { throw .refused("'\(shown)' is no ELF program; name a compiled Swift program") }
    guard facts.is64Bit, facts.machine == 62 else {
      throw .refused("'\(shown)' is for another processor (ELF machine \(facts.machine)); this ScriptHost is for x86-64")
    }
    return facts
  }

  // MARK: Runtime

  private static func findRuntime(_ program: ProgramFile, _ facts: LaunchFacts) throws(Failure) -> RawPath {
    let shown = program.shown
    let name = "libswiftCore.so"
    guard let interpreter = facts.interpreter else {
      throw facts.hasSwiftSections ? isStatic(shown) : .refused("'\(shown)' is statically linked; ScriptHost needs a dynamic Swift program")
    }
    if facts.needed.contains(name), let found = searchPaths(program, facts).first(where: { $0.appending(name).status() != nil }) {
      return found.appending(name)
    }
    // The loader's own answer, for the library cache and what libraries of the program bring in.
    let listed = LoaderList.libraries(of: program.path, loader: interpreter)
    switch listed[name] {
    case .some(.some(let path)): return RawPath(path)
    case .some(.none):
      throw .notStarted("'\(shown)' needs \(name), which the loader does not find; set LD_LIBRARY_PATH to the directory of the Swift runtime")
    case .none:
      throw facts.hasSwiftSections ? isStatic(shown) : .refused("'\(shown)' is not a Swift program; ScriptHost opens Swift programs only")
    }
  }

  private static func isStatic(_ shown: String) -> Failure {
    .refused("'\(shown)' has the Swift runtime linked in, and values cannot cross between two runtimes; build it without -static-stdlib")
  }

  /// Directories the loader looks into before its cache.
  private static func searchPaths(_ program: ProgramFile, _ facts: LaunchFacts) -> [RawPath] {
    let origin = program.realPath.parent.description
    let own = facts.runPath.map {
      RawPath($0.replacing("$ORIGIN", with: origin).replacing("${ORIGIN}", with: origin))
    }
    let environment = getenv("LD_LIBRARY_PATH").map { String(cString: $0).split { $0 == ":" || $0 == ";" } } ?? []
    return environment.map { RawPath(String($0)) } + own
  }

  // MARK: Compiler

  /// Compares the program's runtime and compiler with the ones this build was made with: the layout
  /// of types and the calling convention are only stable within one version.
  private func checkCompiler() throws(Failure) {
    let own = OwnRuntime.current
    if let found = runtimeBuildID, let expected = own.buildID, found != expected {
      throw .refused(
        "'\(program.shown)' runs with another Swift runtime (\(runtime), build \(found.prefix(8))) than ScriptHost was built with "
          + "(build \(expected.prefix(8))); build ScriptHost with the toolchain of the program")
    }
    if !facts.compilers.isEmpty, !own.compilers.isEmpty, facts.compilers.isDisjoint(with: own.compilers) {
      throw .refused(
        "'\(program.shown)' was compiled by another Swift (LLVM \(facts.compilers.sorted()[0].prefix(10))) than ScriptHost "
          + "(\(own.compilers.sorted()[0].prefix(10))); build ScriptHost with the toolchain of the program")
    }
  }
}

/// The Swift this command runs with, which is the one the host library was built with.
struct OwnRuntime {
  let buildID: String?
  let compilers: Set<String>

  static var current: OwnRuntime {
    OwnRuntime(
      buildID: loadedRuntime().flatMap { LaunchFacts(path: $0)?.buildID },
      compilers: LaunchFacts(path: RawPath("/proc/self/exe"))?.compilers ?? [])
  }

  /// Where this process has libswiftCore.so from.
  private static func loadedRuntime() -> RawPath? {
    let maps = RawPath("/proc/self/maps").contents(limit: 1 << 20)
    let name = Array("/libswiftCore.so".utf8)
    let line = maps.split(separator: UInt8(ascii: "\n")).first { $0.suffix(name.count).elementsEqual(name) }
    return line?.firstIndex(of: UInt8(ascii: "/")).map { RawPath(line![$0...]) }
  }
}

/// Asks the dynamic loader which libraries a program would get; nothing of the program runs.
enum LoaderList {
  /// Paths by library name; a nil path is one the loader does not find.
  static func libraries(of program: RawPath, loader: String) -> [String: String?] {
    let output = Child.output([Array(loader.utf8), Array("--list".utf8), program.bytes]) ?? ""
    var found: [String: String?] = [:]
    for line in output.split(separator: "\n") {
      let parts = line.split(separator: " ", omittingEmptySubsequences: true)
      guard parts.count >= 3, parts[1] == "=>" else { continue }
      let name = parts[0].drop { $0 == "\t" }
      found[String(name)] = .some(parts[2].hasPrefix("/") ? String(parts[2]) : nil)
    }
    return found
  }
}
