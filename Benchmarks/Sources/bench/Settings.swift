// Settings — the command line of bench, and where the measured programs lie.
import Glibc

struct Settings {
  var quick = false
  var json = false
  /// A file of figures that stand beside those of this run; empty: none.
  var against = ""
  /// Directory of scripthost, its libraries and engine-bench.
  var products = ""
  /// The measured program.
  var subject = ""
  /// The program with every kind of value, beside it.
  var kinds: String { subject.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/") + "/bench-kinds" }
  /// The script that measures what goes on in a process that runs.
  var live = ""
  /// The client of URLSession, beside it.
  var client: String { subject.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/") + "/bench-client" }
  /// Words of the titles of what is measured; empty: all of it.
  var only: [String] = []
  /// Directory of the toolchain's programs.
  var toolchain = ""

  init(_ arguments: some Sequence<String>) {
    var arguments = Array(arguments)[...]
    while let word = arguments.popFirst() {
      switch word {
      case "--quick": quick = true
      case "--json": json = true
      case "--only": only.append(arguments.popFirst() ?? "")
      case "--against": against = arguments.popFirst() ?? ""
      case "--products": products = arguments.popFirst() ?? ""
      case "--subject": subject = arguments.popFirst() ?? ""
      case "--live": live = arguments.popFirst() ?? ""
      case "--toolchain": toolchain = arguments.popFirst() ?? ""
      default: fail("unknown word '\(word)'; use scripts/bench [--quick] [--json] [--only WORD] [--against FILE]")
      }
    }
    guard ![products, subject, live, toolchain].contains("") else { fail("start it as scripts/bench") }
  }

  var rounds: Int { quick ? 2 : 5 }
  /// Of what has many cases.
  var fewRounds: Int { quick ? 1 : 3 }
  var host: String { products + "/scripthost" }
  var engine: String { products + "/engine-bench" }
  /// The toolchain's largest symbol table.
  var largeBinary: String { toolchain + "/swift-package" }
  /// A library with more than 16,000 hookable functions.
  var largeLibrary: String { toolchain + "/../lib/swift/host/libSwiftSyntax.so" }
}
