// Survey — says how much of a program can be hooked and decoded, from inside, in the program's place.
//
// Types are only known where they are loaded, so the program is started up to its `main`, judged, and ended there:
// nothing of its own runs but constructors and metadata accessors.
private import Glibc
internal import HookRuntime
internal import Journal
private import SwiftMangling

/// What `scripthost coverage` asks for.
struct Survey {
  /// Libraries to open and judge; none: the program itself.
  private let libraries: [RawPath]
  private let isList: Bool
  private let isJSON: Bool
  private let showsPlaces: Bool

  init(_ settings: BootSettings) {
    libraries = settings.allBytes(.coverageLibrary).map { RawPath($0) }
    isList = settings.has(.coverageList)
    isJSON = settings.has(.coverageJSON)
    showsPlaces = settings.has(.coveragePlaces)
  }

  /// Prints the report on stdout and ends the process.
  func run() -> Never {
    var names: [[UInt8]] = []
    for library in libraries {
      guard library.withCString({ dlopen($0, RTLD_NOW | RTLD_GLOBAL) }) != nil else {
        StandardError().write("scripthost: '\(library)' cannot be opened, \(String(cString: dlerror()))\n")
        _exit(125)
      }
      names.append(library.lastComponent)
    }
    let images = ProcessCatalog.shared.current().filter { image in
      libraries.isEmpty ? image.isMainProgram : names.contains(RawPath(image.path).lastComponent)
    }
    if images.isEmpty {
      StandardError().write(
        "scripthost: nothing to judge: \(libraries.isEmpty ? "the program has" : "the libraries have") no Swift metadata\n")
      _exit(126)
    }
    for image in images { report(image) }
    _exit(0)
  }

  private func report(_ image: ImageCatalog) {
    var table = SurveyTable(image: String(decoding: RawPath(image.path).lastComponent, as: UTF8.self))
    image.coverage { selector in
      table.add(selector)
      if isList { write(isJSON ? Self.json(selector, image, withPlaces: showsPlaces) : Self.text(selector, image)) }
    }
    table.compilerMade = image.compilerMadeCount()
    if !isList { write(isJSON ? table.json : table.text) }
  }

  private func write(_ line: String) {
    var line = line + "\n"
    line.withUTF8 { text in
      var done = 0
      while done < text.count {
        let written = Glibc.write(STDOUT_FILENO, text.baseAddress! + done, text.count - done)
        if written < 0, errno == EINTR { continue }
        // Nobody reads on.
        if written <= 0 { _exit(errno == EPIPE ? 0 : 1) }
        done += written
      }
    }
  }

  private static func text(_ selector: SelectorCoverage, _ image: ImageCatalog) -> String {
    let hooks = selector.refusals.isEmpty ? "hookable" : "\(selector.refusals.count) of \(selector.family.bodies.count) refused"
    return "\(selector.obstacle.map { "not decoded: " + $0 } ?? "decoded")  \(hooks)  \(image.fullName(selector.family, typed: true))"
  }

  private static func json(_ selector: SelectorCoverage, _ image: ImageCatalog, withPlaces: Bool) -> String {
    JSONValue(members:
      ("selector", .string(image.fullName(selector.family, typed: true))), ("kind", .string("\(selector.kind)")),
      ("generic", .bool(selector.isGeneric)), ("bodies", JSONValue(selector.family.bodies.count)),
      ("refused", JSONValue(selector.refusals.map(\.code))), ("symbols", JSONValue(selector.family.bodies.map(\.mangledName))),
      ("obstacle", JSONValue(selector.obstacle)), ("places", withPlaces ? places(selector.family, image) : nil)).line
  }

  /// For each body: its address in the file, and where the plan has self, the arguments and the result.
  private static func places(_ family: Family, _ image: ImageCatalog) -> JSONValue {
    .array(family.bodies.map { body in
      let plan = image.plan(of: body, in: family)
      let arguments = plan.arguments.map { argument in
        JSONValue.array([.string(argument.type.description(qualified: true)), .bool(argument.isInout), .string(argument.location.notation)])
      }
      return JSONValue(members:
        ("address", JSONValue(body.address - image.bias)), ("merged", .bool(body.form == .merged)),
        ("self", .string(plan.selfPlan.notation)), ("result", .string(plan.result.location.notation)), ("arguments", .array(arguments)))
    })
  }
}
