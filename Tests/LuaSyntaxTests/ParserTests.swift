import Foundation
import LuaBridge
import LuaSyntax
import Testing

/// What Lua itself says of a text.
private enum Verdict: Equatable {
  case good, bad, incomplete

  init(parsing text: String) {
    switch Script(SourceText(text)).problem {
    case nil: self = .good
    case let problem?: self = problem.needsMore ? .incomplete : .bad
    }
  }

  init(_ state: LuaState, compiling text: String) {
    do {
      _ = try state.compile(text, name: "t.lua")
      self = .good
    } catch {
      if case .syntax(moreInput: true) = error.reason { self = .incomplete } else { self = .bad }
    }
  }
}

private let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

/// All scripts of the package.
private let scripts: [(name: String, text: String)] = {
  var found: [(String, String)] = []
  for part in ["examples", "Tests"] {
    let base = root.appendingPathComponent(part)
    for case let file as URL in FileManager.default.enumerator(at: base, includingPropertiesForKeys: nil)! where file.pathExtension == "lua" && file.lastPathComponent != "cases.lua"
    {
      if let text = try? String(contentsOf: file, encoding: .utf8) { found.append((file.lastPathComponent, text)) }
    }
  }
  return found.sorted { $0 < $1 }
}()

@Suite("Lua's grammar")
struct ParserTests {
  private let state = try! LuaState()

  static let snippets = [
    "return", "return 1;", "return 1 2", "x = 1", "x, y.z, w[1] = 1, 2", "f()", "f{}", "f''", "a.b:c 'x'", "a:b", "x", "1", "x +", "x = ",
    "local x <const> = 1 x = 2", "local x <close>, y <close> = nil", "local x <foo> = 1", "if x then", "if x then else", "if x then elseif y then end",
    "for i = 1, 2 do end", "for i = 1 do end", "for i, j in pairs(t) do break end", "break", "while true do break end", "repeat local x until x",
    "goto a ::a::", "goto a", "::a:: ::a::", "do ::a:: end goto a", "::a:: do goto a end", "function f.a.b:c(...) return ... end", "function f(a, ...) end",
    "function f(..., a) end", "local function f() return ... end", "local t = {1, 2; 3, a = 1, ['b'] = 2, [1+1] = 3,}", "local t = {", "local s = 'a",
    "local s = 'a\\\nb'", "local s = \"\\x4", "local s = '\\x41\\065\\u{1F600}\\z  \n x'", "s = '\\400'", "s = '\\q'", "s = '\\u{80000000}'", "s = [[x", "s = [==[ ]] ]=] ]==]",
    "--[[ x", "--[==[ x ]==] x = 1", "-- x", "x = 0x.1p4 + 1e5 + .5 + 3. + 0xA", "x = 0x", "x = 1e", "x = 3x", "x = 1..2", "x = 1 .. 2", "x = a // b ~= c ~ ~d",
    "x = not not a == b and c or d", "x = -2^-3^2", "x = #t", "x = (f())", "(f)()", "(f).x = 1", "(f) = 1", "f() = 1", "f().x = 1", "a.b.c()", "a.b.c", "x = function() end",
    "x = function", "end", "return return", "x = }", "x = {}}", "@", "x = 1 $", "x = é", "local 1 = 2", "local function", "a.1 = 2", "x = a.b.", "x == 1", "x = y == 1",
    "goto = 1", "x = goto", "::", "for", "for x", "for x in", "repeat", "until", "while", "while x", "a = b\n(c)()", ";;;", "; x = 1 ;", "x = a < b < c", "x = a & b | c >> 1",
    "x = 'a' 'b'", "x = ('a'):upper()", "'a':upper()", "#!/usr/bin/lua\nx = 1", "x = 9223372036854775808", "x = 0xffffffffffffffffff", "local a <const>, b <close> = 1, f()",
    "local x = x local x = x", "function f() goto done do local x end ::done:: end",
    "goto a local x ::a:: f(x)", "goto a local x ::a::", "goto a local x ::a:: ; ::b::", "goto a local x ::a:: return", "do goto a end local x ::a:: f()",
    "do goto a end local x ::a::", "goto a local function f() end ::a:: f()", "goto a; ::a:: local x", "local x ::a:: goto a", "goto a do local x end ::a:: f()",
    "repeat goto a local x ::a:: until x", "repeat do goto a end local x ::a:: f() until x", "while x do goto a local y ::a:: end", "for i = 1, 2 do if i then goto a end local y ::a:: y() end",
    "if x then goto a end local y <const> = 1 ::a:: f(y)", "do goto a local x do ::a:: end end", "goto a function f() local x ::a:: end",
    "return ...", "x = ...", "function f() local a = function() return ... end end",
  ]

  @Test("is Lua's own, snippet by snippet", arguments: snippets)
  func snippet(_ text: String) {
    #expect(Verdict(parsing: text) == Verdict(state, compiling: text))
  }

  @Test("all scripts of the package parse as Lua parses them")
  func corpus() {
    #expect(scripts.count > 20)
    // Some are wrong by intent.
    for (name, text) in scripts { #expect(Verdict(parsing: text) == Verdict(state, compiling: text), "\(name)") }
  }

  @Test("changed scripts are refused where Lua refuses them")
  func mutants() {
    var random = SplitMix(20_261_123)
    var counts: [Verdict: Int] = [:]
    let pieces = ["end", "(", ")", "{", "}", "=", ",", "local", "function", "if", "then", ".", ":", "'", "]]", "[[", "--", "goto", "not", "x", "1", "return", "..", "do"]
    for _ in 0..<1500 {
      let (name, text) = scripts[random.next(scripts.count)]
      let source = SourceText(text)
      let tokens = Lexer.tokens(source)
      let token = tokens[random.next(tokens.count)].range
      var bytes = source.bytes
      switch random.next(4) {
      case 0: bytes.removeSubrange(token)
      case 1: bytes.removeSubrange(token.lowerBound...)
      case 2: bytes.replaceSubrange(token, with: Array(pieces[random.next(pieces.count)].utf8))
      default: bytes.insert(contentsOf: Array((" " + pieces[random.next(pieces.count)] + " ").utf8), at: token.lowerBound)
      }
      let mutant = String(decoding: bytes, as: UTF8.self)
      if mutant.isEmpty { continue }
      let own = Verdict(parsing: mutant), lua = Verdict(state, compiling: mutant)
      counts[own, default: 0] += 1
      if own != lua { Issue.record("\(name): \(own), Lua says \(lua): \(Script(SourceText(mutant)).problem?.message ?? "")\n\(mutant)") }
    }
    #expect(counts.count == 3)
  }

  @Test("deep nesting is refused, not run into the stack's end")
  func nesting() {
    for (open, close) in [("(", ")"), ("{", "}"), ("not ", ""), ("a..", ""), ("f(", ")")] {
      let text = "x = " + String(repeating: open, count: 50_000) + "1" + String(repeating: close, count: 50_000)
      #expect(Script(SourceText(text)).problem != nil)
    }
    #expect(Script(SourceText(String(repeating: "do ", count: 50_000))).problem != nil)
  }

  @Test("random bytes end in a verdict")
  func noise() {
    var random = SplitMix(7)
    for length in 0..<400 {
      let bytes = (0..<length).map { _ in UInt8(truncatingIfNeeded: random.next(256)) }
      let source = SourceText(bytes)
      let tokens = Lexer.tokens(source)
      #expect(tokens.last?.kind == .end)
      #expect(zip(tokens, tokens.dropFirst()).allSatisfy { $0.range.upperBound <= $1.range.lowerBound })
      _ = Script(source)
    }
  }
}

extension Verdict: Hashable {}

/// A small generator with a seed.
struct SplitMix {
  private var state: UInt64
  init(_ seed: UInt64) { state = seed }
  mutating func next(_ bound: Int) -> Int {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return Int((z ^ (z >> 31)) % UInt64(bound))
  }
}

@Suite("places and names of a script")
struct NameTests {
  @Test("positions count lines and scalars from 1")
  func positions() {
    let source = SourceText("a\né = 1\n")
    #expect(source.position(of: 0) == SourcePosition(line: 1, column: 1))
    #expect(source.position(of: 5) == SourcePosition(line: 2, column: 3))
    #expect(source.position(of: 99) == SourcePosition(line: 3, column: 1))
  }

  @Test("strings mean their bytes")
  func strings() {
    func bytes(_ text: String) -> [UInt8]? {
      guard case .leave(let values)? = Script(SourceText("return " + text)).block.statements.first?.kind, case .string(let bytes)? = values.first?.kind
      else { return nil }
      return bytes
    }
    #expect(bytes("'a\\n\\65\\x42\\u{e9}\\z   \n  c'") == Array("a\nABéc".utf8))
    #expect(bytes("[==[\nx]]y]==]") == Array("x]]y".utf8))
    #expect(bytes("'\\u{7FFFFFFF}'") == [0xFD, 0xBF, 0xBF, 0xBF, 0xBF, 0xBF])
  }

  @Test("locals, parameters and globals are told apart")
  func names() {
    let text = """
      local a, b = 1, 2
      local function f(p) return p + a + g end
      for i = 1, 2 do local a = i; h = a end
      print(f(b))
      """
    let names = Names(Script(SourceText(text)).block)
    #expect(names.locals.map(\.name.text) == ["a", "b", "f", "p", "i", "a"])
    #expect(names.locals.map(\.reads) == [1, 1, 1, 1, 1, 1])
    #expect(names.globals.map(\.name.text) == ["g", "h", "print"])
    #expect(names.globals.map(\.isAssigned) == [false, true, false])
  }
}
