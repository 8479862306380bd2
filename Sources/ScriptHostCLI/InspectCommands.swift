// InspectCommands — the commands that look into a program without running it: types, methods, find, explain.
internal import Glibc
internal import HookRuntime
internal import Journal
internal import ScriptHost
internal import SwiftMangling

extension Option {
  static let debugDirectory = Option(
    long: "debug-dir", value: "DIR", repeats: true, help: "Also looks for separate debug files here, by build-id.", completion: .directory)
}

extension Subcommand {
  private static let inspectOptions = [
    Option(long: "json", help: "Prints one JSON object per line."),
    .debugDirectory,
  ]
  private static let inspectStatuses = [
    ExitStatus.success, ExitStatus(code: "1", meaning: "nothing matched; the nearest names are told"), .usage,
    ExitStatus(code: "126", meaning: "PROGRAM was refused"), ExitStatus(code: "127", meaning: "PROGRAM was not found"),
  ]

  static let types = Subcommand(
    name: "types", summary: "list the types of a program",
    synopsis: "[--json] [--fields] PROGRAM|PID [GLOB]",
    description: [
      """
      Lists classes, structs and enums with their superclass, read from the type metadata of the program and of the Swift libraries it \
      loads. Nothing of the program runs. Without GLOB: the program's own types.
      """,
      "In a GLOB * stops at a dot and ** crosses dots. A word that is no type's whole name finds those that end with it, or hold it.",
    ],
    options: inspectOptions + [Option(long: "fields", help: "Lists stored properties and enum cases too.")],
    operands: .several(1...2, "PROGRAM or PID, and perhaps a GLOB", .program), exitStatuses: inspectStatuses,
    examples: [
      ("scripthost types swift-format 'SwiftFormat.*'", "The types of one module."),
      ("scripthost types --fields plutil 'Foundation.FileHandle'", "One type with its fields."),
    ],
    seeAlso: ["methods", "find"]
  ) { try Inspection($0).types() }

  static let methods = Subcommand(
    name: "methods", summary: "list the selectors of a program",
    synopsis: "[--json] PROGRAM|PID [GLOB]",
    description: [
      """
      Lists functions, methods, initialisers and accessors with their types: the names that patches, rules and traces use. Without GLOB: \
      the program's own. A name counts every body the compiler made of it; how many can be hooked is told.
      """,
      "Instead of a GLOB the name of a type lists its members, and a bare name what is called so in any type.",
    ],
    options: inspectOptions, operands: .several(1...2, "PROGRAM or PID, and perhaps a GLOB", .program), exitStatuses: inspectStatuses,
    examples: [("scripthost methods swift-format 'SwiftFormat.PrettyPrinter.*'", "The methods of one type.")],
    seeAlso: ["explain", "trace"]
  ) { try Inspection($0).methods() }

  static let find = Subcommand(
    name: "find", summary: "find selectors by words",
    synopsis: "[--json] PROGRAM|PID WORD…",
    description: [
      """
      Lists the selectors whose names hold all the words, in any order and case: the program's own first, then those of its libraries, \
      then C functions that it imports, then those of the Swift runtime, which are never hooked; and of these first what is called so, then what is in a type called so.
      """
    ],
    options: inspectOptions, operands: .several(2...32, "PROGRAM or PID, and words", .program), exitStatuses: inspectStatuses,
    examples: [("scripthost find swift-format 'pretty print'", "Everything about pretty printing.")],
    seeAlso: ["methods", "explain"]
  ) { try Inspection($0).find() }

  static let explain = Subcommand(
    name: "explain", summary: "tell how far a hook on a selector reaches",
    synopsis: "[--json] PROGRAM|PID SELECTOR",
    description: [
      """
      Tells which bodies a selector has, which of them can be hooked and why others cannot, how many inlined copies the debug information \
      knows, and what else limits a hook. It claims only what is proven.
      """
    ],
    options: inspectOptions, operands: .several(2...2, "PROGRAM or PID, and a SELECTOR", .program), exitStatuses: inspectStatuses,
    examples: [("scripthost explain swift-format 'SwiftFormat.PrettyPrinter.prettyPrint()'", "One selector.")],
    seeAlso: ["methods"]
  ) { try Inspection($0).explain() }
}

/// One look into a program.
private struct Inspection {
  private let program: ProgramView
  private var catalogs: [ImageCatalog] { program.catalogs }
  private var files: ProgramImages.Files { program.files }
  let words: [String]
  let isJSON: Bool
  let showsFields: Bool
  private var shown: String { program.shown }

  init(_ arguments: Arguments) throws(Failure) {
    words = arguments.operands.dropFirst().map { String(decoding: $0, as: UTF8.self) }
    isJSON = arguments.has("--json")
    showsFields = arguments.has("--fields")
    program = try ProgramView(
      arguments.operands[0], debugDirectories: arguments.all("--debug-dir").map { String(decoding: $0, as: UTF8.self) })
  }

  private func images(for pattern: SelectorPattern) -> [ImageCatalog] { pattern.module == nil ? [catalogs[0]] : catalogs }

  /// What a pattern means: selectors of the program's images, or C functions they import.
  private func families(_ text: String) throws(Failure) -> [(ImageCatalog, Family)] {
    if let selector = CSelector(text) {
      if let problem = selector.problem { throw Failure(status: 1, sentence: EventText.printable(problem)) }
      let imported = Imports.ofFiles(files).families(matching: selector).map { (catalogs[0], $0) }
      if !imported.isEmpty { return imported }
    }
    return catalogs.families(matching: SelectorPattern(text))
  }

  // MARK: types

  func types() throws(Failure) -> Int32 {
    guard let text = words.first else {
      types(in: catalogs[0]).forEach(print)
      Output.flush()
      return 0
    }
    var known: [String] = []
    for pattern in [SelectorPattern(text)] + SelectorPattern.ofTypes(named: text) {
      let all = images(for: pattern).flatMap(types)
      let found = all.filter { pattern.matches($0.name, isStatic: false, typed: { [] }) }
      if found.isEmpty { known += all.map(\.name); continue }
      found.forEach(print)
      Output.flush()
      return 0
    }
    let near = Nearest.name(to: text, among: known)
    throw Failure(status: 1, sentence: "no type matches '\(EventText.printable(text))'" + (near.map { "; did you mean '\($0)'?" } ?? ""))
  }

  private func types(in image: ImageCatalog) -> [TypeRecord] { SwiftTypes(file: image.file).types.sorted { $0.name < $1.name } }

  private func print(_ type: TypeRecord) {
    if isJSON {
      return Output.line(JSONValue(members:
        ("kind", .string("\(type.kind)")), ("name", .string(type.name)), ("generic", .bool(type.isGeneric)),
        ("superclass", type.superclass.map { .string($0) }),
        ("fields", .array(type.fields.map { ["name": .string($0.name), "var": .bool($0.isVar)] }))).line)
    }
    Output.line("\(type.kind)".padded(to: 7) + type.name + (type.superclass.map { ": \($0)" } ?? ""))
    guard showsFields else { return }
    for field in type.fields { Output.line("         \(type.kind == .enum ? "case" : field.isVar ? "var" : "let") \(field.name)") }
  }

  // MARK: methods, find

  func methods() throws(Failure) -> Int32 {
    let text = words.first ?? "**"
    var found = try families(text)
    for pattern in SelectorPattern.ofMembers(named: text) where found.isEmpty { found = catalogs.families(matching: pattern) }
    guard !found.isEmpty else { throw nothing(text) }
    list(found.sorted { $0.1.selector < $1.1.selector })
    return 0
  }

  func find() throws(Failure) -> Int32 {
    let wanted = words.flatMap { $0.split(separator: " ") }.map { $0.lowercased() }
    var found: [(ImageCatalog, Family)] = []
    for image in catalogs {
      found += image.families(where: { name in
        let lower = name.lowercased()
        return wanted.allSatisfy { lower.contains($0) }
      }).map { (image, $0) }
    }
    if let all = CSelector("C.*") {
      found += Imports.ofFiles(files).families(matching: all).filter { family in
        let lower = family.selector.lowercased()
        return wanted.allSatisfy { lower.contains($0) }
      }.map { (catalogs[0], $0) }
    }
    guard !found.isEmpty else {
      throw Failure(
        status: 1,
        sentence:
          "no selector holds the word\(wanted.count == 1 ? "" : "s") \(wanted.map { "'\(EventText.printable($0))'" }.joined(separator: ", "))"
      )
    }
    let order = FoundOrder(wanted)
    func rank(_ image: ImageCatalog, _ family: Family) -> Int {
      let isImported = family.imported != nil
      return order.rank(
        family.selector, isOwn: image.isMainProgram, isImported: isImported, isForbidden: !isImported && image.isForbidden)
    }
    list(found.map { (rank($0.0, $0.1), $0) }
      .sorted { $0.0 != $1.0 ? $0.0 < $1.0 : $0.1.1.selector < $1.1.1.selector }.map(\.1))
    return 0
  }

  private func nothing(_ text: String) -> Failure {
    let near =
      CSelector(text).map { NearestNames.imports(to: $0, in: Imports.ofFiles(files)) }
      ?? NearestNames.selectors(to: text, in: images(for: SelectorPattern(text)))
    return Failure(
      status: 1,
      sentence: "no selector matches '\(EventText.printable(text))' in \(EventText.printable(shown))"
        + (Absence.reason(text, in: catalogs, depth: .full).map { ": \($0)" } ?? "")
        + (near.isEmpty ? "" : "; did you mean \(near.map { "'\($0)'" }.joined(separator: " or "))?"))
  }

  private func list(_ found: [(ImageCatalog, Family)]) {
    for (image, family) in found {
      let reasons = family.bodies.map { image.refusal(of: $0, in: family) }
      let hookable = reasons.count { $0 == nil }
      if isJSON {
        Output.line(JSONValue(members:
          ("selector", .string(image.fullName(family))), ("typed", .string(image.fullName(family, typed: true))),
          ("bodies", JSONValue(family.bodies.count)), ("hookable", JSONValue(hookable)), ("image", .string(image.path)),
          ("refused", JSONValue(reasons.compactMap { $0?.code })), ("symbols", JSONValue(family.bodies.map(\.mangledName)))).line)
        continue
      }
      let state =
        hookable == 0
        ? "not hookable: \(reasons.compactMap { $0 }.first?.description ?? HookRefusal.noBody.description)"
        : "hookable, \(hookable < family.bodies.count ? "\(hookable) of " : "")" + bodies(family)
      Output.line(image.fullName(family, typed: true).padded(to: 60) + "  " + state)
    }
    Output.flush()
  }

  /// `2 bodies`; of a C function the images that import it.
  private func bodies(_ family: Family) -> String {
    let count = family.bodies.count
    guard family.imported != nil else { return "\(count) bod\(count == 1 ? "y" : "ies")" }
    var images: [String] = []
    for place in family.bodies.compactMap(\.place) where images.last != place.importer.name { images.append(place.importer.name) }
    return "\(count) slot\(count == 1 ? "" : "s") of \(images.joined(separator: ", "))"
  }

  // MARK: explain

  func explain() throws(Failure) -> Int32 {
    let found = try families(words[0])
    guard !found.isEmpty else { throw nothing(words[0]) }
    if isJSON {
      for (image, family) in found { Output.line(explanation(image, family)) }
    } else {
      Output.line(Explanation.text(found, among: catalogs))
    }
    Output.flush()
    return 0
  }

  /// The facts of an explanation as one object; "inlined" is null without debug information, "text" what a person reads.
  private func explanation(_ image: ImageCatalog, _ family: Family) -> String {
    let bodies = family.bodies.map { body in
      JSONValue(members:
        ("symbol", .string(body.mangledName)), ("form", .string(body.form.words)), ("bytes", JSONValue(body.size)),
        ("refused", JSONValue(image.refusal(of: body, in: family)?.code)))
    }
    return JSONValue(members:
      ("selector", .string(image.fullName(family))), ("typed", .string(image.fullName(family, typed: true))), ("image", .string(image.path)),
      ("bodies", .array(bodies)), ("inlined", image.inlinedCopies(of: family).map { JSONValue($0) } ?? .null),
      ("text", .string(Explanation.text(family, image, among: catalogs))),
      ("backEnds", .array(Reach(family, in: image, among: catalogs).all().map(claim)))).line
  }

  /// One back end's reach: what it claims of each way to call.
  private func claim(_ reach: BackEndReach) -> JSONValue {
    if let (code, reason) = reach.refusal {
      return ["name": .string(reach.backEnd.rawValue), "refused": .string(code), "reason": .string(reason)]
    }
    let claims = CallWay.allCases.map { JSONValue.Member($0.rawValue, .string(reach.claims[$0]?.rawValue ?? "none")) }
    return [
      "name": .string(reach.backEnd.rawValue), "refused": .null, "chosen": .bool(reach.isChosen), "reach": .object(claims),
      "limits": JSONValue(reach.limits),
    ]
  }
}
