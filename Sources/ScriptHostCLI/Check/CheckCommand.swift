// CheckCommand — scripthost check: messages as editors read them.
internal import Glibc
internal import Journal
internal import ScriptHost

extension Subcommand {
  static let check = Subcommand(
    name: "check", summary: "check patches against a program without running it",
    synopsis: "[--json] [--strict] [--policy FILE] PATCH… [[--] PROGRAM]",
    description: [
      """
      Parses each PATCH, looks for unknown names, unused hooks and wrong numbers of arguments, and binds it to PROGRAM without running it: \
      the header's target, types, selectors and whether they can be hooked, argument names, capture paths of tracking rules. Messages read \
      FILE:LINE:COLUMN: MESSAGE, as editors understand them.
      """,
      """
      Files that end in .lua are patches, a directory means the patches in it, or, with patch.lua, that one with its modules and tests; \
      the last word, if it is neither, is the program, or else the word behind --, whose arguments do not matter. Without PROGRAM only the \
      text is checked.
      """,
    ],
    options: [
      Option(long: "json", help: "Prints one JSON object per message."),
      Option(long: "strict", help: "Warnings, such as unused names, count as mistakes."),
      Option(
        long: "policy", value: "FILE", help: "Also checks what patches touch and ask for against this policy: see docs/policy.md.",
        completion: .file),
      .debugDirectory,
    ],
    operands: .several(1...256, "a PATCH, and perhaps a PROGRAM", .file),
    exitStatuses: [
      ExitStatus(code: "0", meaning: "nothing is wrong"), ExitStatus(code: "1", meaning: "mistakes were found"), .usage,
      ExitStatus(code: "126", meaning: "PROGRAM or PATCH was refused"), ExitStatus(code: "127", meaning: "PROGRAM or PATCH was not found"),
    ],
    examples: [
      ("scripthost check banner.lua swift-format", "One patch against a program in PATH."),
      ("scripthost check --json Patches ./server", "All patches of a directory, for tools."),
    ],
    seeAlso: ["run", "pin", "find", "explain"]
  ) { try checkPatches($0) }

  private static func checkPatches(_ arguments: Arguments) throws(Failure) -> Int32 {
    let (operands, named) = try patchesAndProgram(arguments)
    var program: ProgramView?
    if let named { program = try ProgramView(named, debugDirectories: arguments.all("--debug-dir").map { String(decoding: $0, as: UTF8.self) }) }
    let policy: Policy? = if let path = arguments.path("--policy") { try PolicyFile.read(path) } else { nil }
    var mistakes = 0
    var count = 0
    for operand in operands {
      // As a start does, which is given one directory: each patch has an id of its own.
      var ids: [String: RawPath] = [:]
      for place in try places(RawPath(operand)) {
        count += 1
        for (finding, path) in try findings(place, program, policy, &ids) {
          let shown = EventText.printable(path.description)
          if finding.severity == .error || arguments.has("--strict") { mistakes += 1 }
          Output.line(arguments.has("--json") ? finding.json(shown) : finding.line(shown))
        }
      }
    }
    Output.flush()
    if !arguments.has("--json"), mistakes == 0 {
      Output.note(
        "\(count) patch\(count == 1 ? "" : "es") checked" + (program.map { " against \(EventText.printable($0.shown))" } ?? ", its text only")
          + ", nothing wrong")
    }
    return mistakes == 0 ? 0 : 1
  }

  /// The patches and the program, if there is one: the first word behind "--", as for commands that start it, or else a last word that is no patch.
  static func patchesAndProgram(_ arguments: Arguments) throws(Failure) -> (patches: [[UInt8]], program: [UInt8]?) {
    let all = arguments.operands
    if let count = arguments.operandsBeforeDashes, count > 0 {
      return (Array(all.prefix(count)), all.dropFirst(count).first)
    }
    guard let last = all.last, !isPatch(last) else { return (all, nil) }
    guard all.count > 1 else { throw missing(last) }
    return (all.dropLast(), last)
  }

  /// What is to be said of the files of one patch.
  private static func findings(
    _ place: PatchFiles.Place, _ program: ProgramView?, _ policy: Policy?, _ ids: inout [String: RawPath]
  ) throws(Failure) -> [(CheckMessage, RawPath)] {
    let (texts, header, unit) = try CheckedUnit.read(place)
    let main = texts.first { $0.path == place.path }?.bytes ?? []
    var found: [(CheckMessage, RawPath)] = []
    if let program, let header, let change = PatchCheck.change(of: header, in: program, main) { found.append((change, place.path)) }
    for (path, bytes) in texts {
      for finding in PatchCheck.findings(bytes, path: path, of: unit, program: program, policy: policy) { found.append((finding, path)) }
    }
    if let id = header?.id {
      if let other = ids[id] {
        found.append((PatchCheck.taken(id, by: other, main), place.path))
      } else {
        ids[id] = place.path
      }
    }
    return found
  }

  private static func missing(_ operand: [UInt8]) -> Failure {
    let shown = EventText.printable(String(decoding: operand, as: UTF8.self))
    guard RawPath(operand).status() != nil else { return .notFound("no patch '\(shown)'; name a file that ends in .lua, or a directory") }
    return .usage("check: '\(shown)' does not end in .lua; name a patch before the program")
  }

  /// A name that ends in .lua, or a directory.
  private static func isPatch(_ operand: [UInt8]) -> Bool {
    if operand.suffix(4) == Array(".lua".utf8)[...] { return true }
    guard let status = RawPath(operand).status() else { return false }
    return status.st_mode & S_IFMT == S_IFDIR
  }

  /// The patches that the path stands for.
  static func places(_ path: RawPath) throws(Failure) -> [PatchFiles.Place] {
    let shown = EventText.printable(path.description)
    guard path.status() != nil else { throw .notFound("no patch '\(shown)'; check the path") }
    let places: [PatchFiles.Place]
    do throws(PatchError) { places = try PatchFiles.places(path) } catch { throw .refused(error.description) }
    guard !places.isEmpty else { throw .notFound("'\(shown)' has no patches; a patch is a file that ends in .lua") }
    return places
  }
}

/// A patch's file, as the host reads it.
enum PatchFile {
  /// Longest source the host reads.
  static let longest = 128 << 10

  static func read(_ path: RawPath) throws(Failure) -> [UInt8] {
    let shown = EventText.printable(path.description)
    guard let status = path.status() else { throw .notFound("no patch '\(shown)'; check the path") }
    guard status.st_mode & S_IFMT == S_IFREG else { throw .refused("'\(shown)' is no ordinary file, expected a Lua file") }
    guard status.st_size <= longest else { throw .refused("'\(shown)' has \(status.st_size) bytes, a patch has at most \(longest)") }
    guard let bytes = contents(path, Int(status.st_size)) else {
      throw .refused("'\(shown)' cannot be read, \(systemMessage(errno)); check its permissions")
    }
    return bytes
  }

  private static func contents(_ path: RawPath, _ size: Int) -> [UInt8]? {
    guard let file = path.withCString({ fopen($0, "re") }) else { return nil }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: size)
    let count = fread(&bytes, 1, size, file)
    guard ferror(file) == 0 else { return nil }
    bytes.removeLast(size - count)
    return bytes
  }
}
