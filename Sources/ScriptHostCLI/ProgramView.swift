// ProgramView — a program's catalogs and types, read from its files; nothing of it runs.
internal import Glibc
internal import HookRuntime
internal import Journal
internal import ScriptHost
internal import SwiftMangling

/// A program, as PROGRAM or PID on the command line.
final class ProgramView {
  /// The program as it was typed.
  let shown: String
  /// The program's own first.
  let catalogs: [ImageCatalog]
  let files: ProgramImages.Files
  private(set) lazy var imports = Imports.ofFiles(files)
  /// By name; private types without their files.
  private(set) lazy var types: [String: TypeRecord] = {
    var found: [String: TypeRecord] = [:]
    for catalog in catalogs {
      for type in catalog.types.types { found[Self.plain(type.name)] = found[Self.plain(type.name)] ?? type }
    }
    return found
  }()
  private(set) lazy var protocols = Set(catalogs.flatMap { $0.types.protocols.map { Self.plain($0.name) } })

  /// - Parameter operand: a file, a name in PATH, or the number of a process.
  init(_ operand: [UInt8], debugDirectories: [String] = []) throws(Failure) {
    let shown = String(decoding: operand, as: UTF8.self)
    self.shown = shown
    var options = SymbolTable.Options()
    options.debugDirectories = debugDirectories
    if let state = StateDirectory.resolve()?.appending("index"), state.makeDirectories() { options.indexDirectory = state.description }
    let pid = Int32(shown).flatMap { $0 > 0 ? $0 : nil }
    let path = pid == nil ? try ProgramFile(named: operand, runs: false).realPath.description : ""
    if let pid, kill(pid, 0) != 0, errno == ESRCH { throw .notFound("no process '\(pid)'") }
    do throws(ImageError) {
      files = if let pid { try ProgramImages.files(ofProcess: pid) } else { try ProgramImages.files(ofProgram: path) }
    } catch { throw error.failure }
    catalogs = ProgramImages.catalogs(of: files, options: options)
    guard catalogs.contains(where: { $0.file.isSwift }) else {
      throw .refused("'\(EventText.printable(shown))' is not a Swift program: it has no Swift metadata and loads no Swift library")
    }
  }

  /// In hexadecimal; empty where the program has none.
  var buildID: String { catalogs.first(where: \.isMainProgram)?.file.buildIDHex ?? "" }

  /// The name of the program's file: what `target.program` is compared with.
  var name: String { files[0].path.split(separator: "/").last.map(String.init) ?? shown }

  /// `Secret#Cart.swift` and `Secret#_C0FFEE` as `Secret`.
  static func plain(_ name: String) -> String {
    guard name.utf8.contains(UInt8(ascii: "#")) else { return name }
    return name.split(separator: ".").filter { $0 != "swift" }.map { step in String(step.prefix { $0 != "#" }) }.joined(separator: ".")
  }

  /// The class's ancestors, nearest first, as far as the program's files tell.
  func superclasses(of name: String) -> [String] {
    var found: [String] = []
    var each = types[name]?.superclass
    while let name = each, found.count < 64 {
      found.append(name)
      each = types[Self.plain(name)]?.superclass
    }
    return found
  }
}

extension ImageError {
  /// A program that is not there is 127, one that cannot be read 126.
  var failure: Failure { if case .notFound = self { .notFound(description) } else { .refused(description) } }
}
