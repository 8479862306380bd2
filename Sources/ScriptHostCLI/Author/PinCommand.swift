// PinCommand — scripthost pin: a patch remembers the code of the functions that it was written for.
internal import HookRuntime
internal import Journal
internal import LuaSyntax
internal import ScriptHost

extension Subcommand {
  static let pin = Subcommand(
    name: "pin", summary: "tie a patch to the code of the functions it names",
    synopsis: "[--write] PATCH [--] PROGRAM",
    description: [
      """
      Prints, for each function that PATCH names, a digest of its code in PROGRAM, as the field 'bodies' of the header's target. A patch that has it is \
      loaded where the code of these functions is still the same, whatever else has changed in the program, and refused elsewhere: a new build \
      in which somebody has changed them is looked at by a person first. Of builds that 'target.build_ids' lists the code is not looked at.
      """,
      """
      The digest counts instructions, and what they call and read by name, not where the linker has put it. It covers the function's clones, \
      the closures in it and the parts of an async function. Another compiler or other options make other code of the same source. What a \
      glob means, C functions and what has no body of its own are left out, which is told.
      """,
    ],
    options: [
      Option(long: "write", help: "Puts the field into the header of PATCH, in the place of one that is there."),
      .debugDirectory,
    ],
    operands: .several(2...256, "a PATCH and a PROGRAM", .file),
    exitStatuses: [
      .success, ExitStatus(code: "1", meaning: "PATCH has mistakes, or nothing in it can be pinned"), .usage,
      ExitStatus(code: "126", meaning: "PROGRAM or PATCH was refused"), ExitStatus(code: "127", meaning: "PROGRAM or PATCH was not found"),
    ],
    examples: [
      ("scripthost pin banner.lua swift-format", "Prints what to put into the header."),
      ("scripthost pin --write banner.lua ./server", "Puts it there."),
    ],
    seeAlso: ["check", "patch", "explain"]
  ) { try pinPatch($0) }

  private static func pinPatch(_ arguments: Arguments) throws(Failure) -> Int32 {
    let (operands, named) = try patchesAndProgram(arguments)
    guard let named, operands.count == 1 else { throw .usage("pin: takes one PATCH and a PROGRAM") }
    let places = try places(RawPath(operands[0]))
    guard places.count == 1 else {
      throw .usage("pin: '\(EventText.printable(RawPath(operands[0]).description))' has \(places.count) patches; name one")
    }
    let program = try ProgramView(named, debugDirectories: arguments.all("--debug-dir").map { String(decoding: $0, as: UTF8.self) })
    let binding = SelectorBinding(program)
    guard try isRight(places[0], binding) else {
      throw Failure(status: 1, sentence: "correct the patch first: scripthost check \(places[0].path) \(program.shown)")
    }
    let pinned = pinned(binding)
    let shown = EventText.printable(places[0].path.description)
    guard !pinned.isEmpty else { throw Failure(status: 1, sentence: "\(shown): no function that it names has code to pin") }
    guard pinned.count <= mostPinned else {
      throw Failure(status: 1, sentence: "\(shown): it names \(pinned.count) functions, a header has room for \(mostPinned); divide the patch")
    }
    let field = PinnedField(pinned)
    if arguments.has("--write") {
      try TextFile.write(field.written(into: try PatchFile.read(places[0].path), program: program.name), to: places[0].path, replacing: true)
    } else {
      Output.text(field.text(indent: "") + "\n")
      Output.flush()
    }
    Output.note(
      "\(shown): \(pinned.count) function\(pinned.count == 1 ? "" : "s") of \(EventText.printable(program.name)) pinned"
        + (arguments.has("--write") ? "" : "; put 'bodies' into the header's target, or run it with --write"))
    return 0
  }

  /// Fields of a table in a header.
  private static let mostPinned = 64

  /// Nothing is wrong with the patch's files; `binding` knows what they name then. Mistakes are told.
  private static func isRight(_ place: PatchFiles.Place, _ binding: SelectorBinding) throws(Failure) -> Bool {
    let (texts, _, unit) = try CheckedUnit.read(place)
    var isRight = true
    for (path, bytes) in texts {
      for finding in PatchCheck.findings(bytes, path: path, of: unit, binding: binding) where finding.severity == .error {
        isRight = false
        Output.note(finding.line(EventText.printable(path.description)))
      }
    }
    return isRight
  }

  private static func pinned(_ binding: SelectorBinding) -> [PatchHeader.Body] {
    binding.bound.compactMap { bound in
      let shown = EventText.printable(bound.text)
      if bound.isGlob {
        Output.note("'\(shown)' is left out: a glob means other functions in another build")
        return nil
      }
      guard let digest = PinnedBodies.digest(bound.found.map { ($0.image, $0.family) }) else {
        Output.note("'\(shown)' is left out: it has no code in this program")
        return nil
      }
      return PatchHeader.Body(selector: bound.text, digest: digest)
    }
  }
}

/// `bodies = { … }` of a header's target.
private struct PinnedField {
  let bodies: [PatchHeader.Body]

  init(_ bodies: [PatchHeader.Body]) { self.bodies = bodies }

  func text(indent: String) -> String {
    "bodies = {\n" + bodies.map { "\(indent)  [\(quoted($0.selector))] = \"\($0.digest)\",\n" }.joined() + indent + "}"
  }

  private func quoted(_ text: String) -> String {
    "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
  }

  /// The patch's text with the field in its header, which it gets where it has none.
  func written(into bytes: [UInt8], program: String) -> String {
    let source = SourceText(bytes)
    let whole = 0..<bytes.count
    let target = "target = { program = \(quoted(program)), \(text(indent: "  ")) }"
    guard let header = Self.header(of: Script(source).block) else {
      return "patch { \(target) }\n\n" + source[whole]
    }
    guard let old = Self.field("target", of: header) else { return inserted(target, into: header, source) }
    guard let bodies = Self.field("bodies", of: old) else { return inserted(text(indent: "  "), into: old, source) }
    return source[0..<bodies.range.lowerBound] + text(indent: "  ").dropFirst("bodies = ".count) + source[bodies.range.upperBound..<bytes.count]
  }

  /// The text with a field at the end of the table.
  private func inserted(_ field: String, into table: Expression, _ source: SourceText) -> String {
    let brace = table.range.upperBound - 1
    guard case .table(let fields) = table.kind, let last = fields.last else {
      return source[0..<brace] + " " + field + " " + source[brace..<source.bytes.count]
    }
    // Behind the last value may be blanks, comments and a comma.
    let end = last.value.range.upperBound
    let hasComma = Lexer.tokens(source).contains { $0.range.lowerBound >= end && $0.range.upperBound <= brace && [",", ";"].contains(source[$0.range]) }
    return source[0..<end] + (hasComma ? "" : ",") + (hasComma ? source[end..<brace] : " ") + field + (hasComma ? " " : source[end..<brace])
      + source[brace..<source.bytes.count]
  }

  /// The table of `patch { … }`, the first statement.
  private static func header(of block: Block) -> Expression? {
    guard case .call(let call)? = block.statements.first?.kind, case .call(let function, let arguments) = call.kind,
      case .name(let name) = function.kind, name.text == "patch", let table = arguments.first, case .table = table.kind
    else { return nil }
    return table
  }

  private static func field(_ name: String, of table: Expression) -> Expression? {
    guard case .table(let fields) = table.kind else { return nil }
    return fields.first { $0.key?.text == name }.map(\.value)
  }
}
