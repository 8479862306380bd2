// What a file says about itself: what it needs, who compiled it, whether it is Swift.

/// The entries of the dynamic section this package uses.
struct DynamicTable {
  var needed: [String] = []
  var soname: String?
  var runPath: String?
  var isPresent = false
  /// DT_RELA and DT_RELASZ, DT_JMPREL and DT_PLTRELSZ.
  var rela: UInt64 = 0
  var relaSize: UInt64 = 0
  var jumps: UInt64 = 0
  var jumpsSize: UInt64 = 0
  var symbols: UInt64 = 0
  var strings: UInt64 = 0
  var stringsSize: UInt64 = 0
  /// DT_VERSYM, DT_VERNEED and DT_VERDEF.
  var versions: UInt64 = 0
  var versionNeeds: UInt64 = 0
  var versionDefinitions: UInt64 = 0
  /// Every function it calls is looked up before it runs: DT_BIND_NOW, DF_BIND_NOW or DF_1_NOW.
  var bindsNow = false
  /// Looks into itself first: DT_SYMBOLIC or DF_SYMBOLIC.
  var isSymbolic = false

  init(_ view: ByteView, segments: [ELFFile.Segment]) {
    guard let segment = segments.first(where: { $0.type == 2 }),
      let table = view.slice(segment.offset, segment.fileSize)
    else { return }
    isPresent = true
    var names: [UInt64] = []
    var nameOfImage: UInt64?
    var path: UInt64?
    for at in stride(from: 0, to: table.count - 15, by: 16) {
      let tag: Int64 = table.load(at)!  // the stride stays 16 bytes inside
      let value: UInt64 = table.load(at + 8)!
      switch tag {
      case 0: finish(view, segments, names, nameOfImage, path); return
      case 1: names.append(value)
      case 2: jumpsSize = value
      case 5: strings = value
      case 6: symbols = value
      case 7: rela = value
      case 8: relaSize = value
      case 10: stringsSize = value
      case 14: nameOfImage = value
      case 15: path = path ?? value  // RPATH counts only without RUNPATH
      case 29: path = value
      case 23: jumps = value
      case 16: isSymbolic = true
      case 24: bindsNow = true
      case 30:
        bindsNow = bindsNow || value & 8 != 0
        isSymbolic = isSymbolic || value & 2 != 0
      case 0x6fff_fff0: versions = value
      case 0x6fff_fffb: bindsNow = bindsNow || value & 1 != 0
      case 0x6fff_fffc: versionDefinitions = value
      case 0x6fff_fffe: versionNeeds = value
      default: break
      }
    }
    finish(view, segments, names, nameOfImage, path)
  }

  /// Turns string offsets into text once the string table is known.
  private mutating func finish(
    _ view: ByteView, _ segments: [ELFFile.Segment], _ names: [UInt64], _ image: UInt64?, _ path: UInt64?
  ) {
    guard let segment = segments.first(where: { $0.isLoaded && strings >= $0.address && strings - $0.address < $0.fileSize }),
      let (start, overflow) = Optional(segment.offset.addingReportingOverflow(strings - segment.address)), !overflow,
      let text = view.slice(start, stringsSize)
    else { return }
    func string(_ offset: UInt64) -> String? { offset < UInt64(text.count) ? text.string(at: Int(offset)) : nil }
    needed = names.compactMap(string)
    soname = image.flatMap(string)
    runPath = path.flatMap(string)
  }
}

extension ELFFile {
  /// The program interpreter (dynamic loader) it asks for.
  package var interpreter: String? {
    guard let segment = segments.first(where: { $0.type == 3 }) else { return nil }
    return view.slice(segment.offset, segment.fileSize)?.string(at: 0)
  }

  /// DT_NEEDED, in order.
  package var needed: [String] { dynamic.needed }
  package var soname: String? { dynamic.soname }
  /// DT_RUNPATH, else DT_RPATH; unexpanded.
  package var runPath: String? { dynamic.runPath }
  /// Has a dynamic section: a preloaded library can get in only then (and only with an `interpreter`).
  package var isDynamic: Bool { dynamic.isPresent }

  /// Contains Swift code: has Swift metadata sections or needs the Swift runtime.
  package var isSwift: Bool {
    sections.contains { $0.name == "swift5_type_metadata" || $0.name == "swift5_protocols" || $0.name == "swift5_reflstr" }
      || needed.contains { $0.hasPrefix("libswiftCore.so") }
  }

  /// Brings its own copy of the Swift runtime instead of importing it. The runtime library itself is not counted.
  package var isStaticallyLinkedSwift: Bool {
    guard isSwift, soname != "libswiftCore.so", !needed.contains("libswiftCore.so") else { return false }
    var imports = false
    for table in RawSymbols.tables(of: self) {
      switch table.definition(of: "swift_retain") {
      case .defined: return true
      case .imported: imports = true
      case nil: break
      }
    }
    // Stripped, and nothing imported either: the runtime can only be inside. A library that gets the runtime
    // through another library imports at least retain and release.
    return !imports && type != 1
  }

  /// The best available evidence of which compiler made it.
  package var compiler: CompilerEvidence? {
    if let producer = DebugInfo(self)?.swiftProducer() { return .producer(producer) }
    guard let comments = view(section: ".comment") else { return nil }
    var at = 0
    while let comment = comments.cString(at: at) {
      if let commit = Self.llvmCommit(in: String(decoding: comment, as: UTF8.self)) { return .llvmCommit(commit) }
      at += comment.count + 1
    }
    return nil
  }

  /// The commit in "clang version 21.0.0 (https://github.com/swiftlang/llvm-project.git 1167…)".
  static func llvmCommit(in comment: String) -> String? {
    // Only one commit is named there; anything else of 40 digits would be a surprise worth seeing.
    return comment.split { !$0.isHexDigit }.last { $0.count == 40 }.map(String.init)
  }
}

/// Which compiler made an image, as far as the file tells.
package enum CompilerEvidence: Sendable, Equatable {
  /// DW_AT_producer, e.g. "Swift version 6.3.1 (swift-6.3.1-RELEASE)".
  case producer(String)
  /// The llvm-project commit named in `.comment`; the same for all tools of one toolchain.
  case llvmCommit(String)
}
