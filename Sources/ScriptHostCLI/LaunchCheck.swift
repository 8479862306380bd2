// LaunchCheck — whether ScriptHost can live in a program: processor, Swift runtime as a library, compiler.
internal import Glibc
internal import HookRuntime
internal import Journal
internal import ScriptHost

/// What the launch needs to know of an ELF file.
struct ImageFacts {
  let file: ELFFile
  /// Commits of Swift's LLVM named in .comment: one per compiler that made a part of it.
  let compilers: Set<String>

  init(_ file: ELFFile) {
    self.file = file
    let comment = file.section(named: ".comment").flatMap { file.bytes(of: $0) } ?? UnsafeRawBufferPointer(start: nil, count: 0)
    // "clang version 21.0.0 (https://github.com/swiftlang/llvm-project.git <commit>)", one line per compiler
    compilers = Set(
      comment.split(separator: 0).compactMap { line in
        let text = String(decoding: UnsafeRawBufferPointer(rebasing: line), as: UTF8.self)
        guard text.contains("swift"), text.contains("llvm-project"), let commit = text.split(separator: " ").last else { return nil }
        return String(commit.prefix { $0.isHexDigit })
      })
  }

  /// Facts of the file at a path; nil when it cannot be read or is no ELF file.
  init?(path: RawPath) {
    guard let file = try? ELFFile(path: path.description) else { return nil }
    self.init(file)
  }

  /// Lower-case hexadecimal, nil when there is none.
  var buildID: String? { file.buildID.isEmpty ? nil : file.buildIDHex }
  /// Whether it holds Swift types or code.
  var hasSwiftSections: Bool { file.sections.contains { $0.name.hasPrefix("swift5_") && $0.size > 0 } }
  /// Whether it has a symbol table beyond the dynamic one.
  var hasSymbols: Bool { file.section(named: ".symtab") != nil }
  /// The sanitizer it was built with: `thread` or `address`.
  var sanitizer: String? {
    let names = file.section(named: ".dynstr").flatMap { file.bytes(of: $0) } ?? UnsafeRawBufferPointer(start: nil, count: 0)
    func has(_ name: StaticString) -> Bool {
      let count = name.utf8CodeUnitCount
      return names.split(separator: 0).contains { $0.count == count && memcmp($0.base.baseAddress! + $0.startIndex, name.utf8Start, count) == 0 }
    }
    return has("__tsan_init") ? "thread" : has("__asan_init") ? "address" : nil
  }
  /// DT_RUNPATH, or DT_RPATH where there is no other.
  var runPath: [String] { file.runPath?.split(separator: ":").map(String.init) ?? [] }
}

/// Whether ScriptHost can live in a program, and with which runtime.
struct LaunchCheck {
  let program: ProgramFile
  let facts: ImageFacts
  /// Where the loader will find libswiftCore.so.
  let runtime: RawPath
  let runtimeBuildID: String?

  /// Checks a program; each refusal is one sentence with advice.
  init(_ program: ProgramFile) throws(Failure) {
    self.program = program
    facts = try Self.readFacts(program)
    runtime = try Self.findRuntime(program, facts)
    runtimeBuildID = ImageFacts(path: runtime)?.buildID
    try checkCompiler()
    if facts.sanitizer == "thread" {
      throw .refused(
        "'\(program.shown)' is built with -sanitize=thread, which takes what ScriptHost does to its code for an error of the "
          + "program; build it without")
    }
  }

  private static func readFacts(_ program: ProgramFile) throws(Failure) -> ImageFacts {
    let shown = program.shown
    do throws(ImageError) {
      return ImageFacts(try ELFFile(path: program.path.description))
    } catch {
      switch error {
      case .script(_, let interpreter):
        throw .refused("'\(shown)' is a script for '\(EventText.printable(interpreter))'; name the Swift program that it starts")
      case .notELF: throw .refused("'\(shown)' is no ELF program; name a compiled Swift program")
      case .wrongClass(_, let found): throw .refused("'\(shown)' is for another processor (\(found)); this ScriptHost is for x86-64")
      default: throw .refused("\(error); ScriptHost needs to read what it opens")
      }
    }
  }

  // MARK: Runtime

  private static func findRuntime(_ program: ProgramFile, _ facts: ImageFacts) throws(Failure) -> RawPath {
    let shown = program.shown
    let name = "libswiftCore.so"
    guard let interpreter = facts.file.interpreter else {
      throw facts.hasSwiftSections ? isStatic(shown) : .refused("'\(shown)' is statically linked; ScriptHost needs a dynamic Swift program")
    }
    if facts.file.needed.contains(name), let found = searchPaths(program, facts).first(where: { $0.appending(name).status() != nil }) {
      return found.appending(name)
    }
    // The loader's own answer, for the library cache and what libraries of the program bring in.
    let listed = LoaderList.libraries(of: program.path, loader: interpreter)
    switch listed[name] {
    case .some(.some(let path)): return RawPath(path)
    case .some(.none):
      throw .notStarted(
        "'\(shown)' needs \(name), which the loader does not find; set LD_LIBRARY_PATH to the directory of the Swift runtime")
    case .none:
      throw facts.hasSwiftSections ? isStatic(shown) : .refused("'\(shown)' is not a Swift program; ScriptHost opens Swift programs only")
    }
  }

  private static func isStatic(_ shown: String) -> Failure {
    .refused("'\(shown)' has the Swift runtime linked in, and values cannot cross between two runtimes; build it without -static-stdlib")
  }

  /// Directories the loader looks into before its cache.
  private static func searchPaths(_ program: ProgramFile, _ facts: ImageFacts) -> [RawPath] {
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
      buildID: loadedRuntime().flatMap { ImageFacts(path: $0)?.buildID },
      compilers: ImageFacts(path: RawPath("/proc/self/exe"))?.compilers ?? [])
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
