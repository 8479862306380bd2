// What a script can reach, and what it can spoil.

import CLuaShim
import Glibc
import LuaBridge
import Testing

@Suite("sandbox")
struct SandboxTests {
  /// Every value reachable from a fresh environment. A new name here is a decision: change the list on purpose.
  static let golden = """
    _G _VERSION assert collectgarbage coroutine coroutine.create coroutine.isyieldable coroutine.resume coroutine.running \
    coroutine.status coroutine.wrap coroutine.yield error getmetatable ipairs load math math.abs math.acos math.asin math.atan \
    math.ceil math.cos math.deg math.exp math.floor math.fmod math.huge math.log math.max math.maxinteger math.min \
    math.mininteger math.modf math.pi math.rad math.random math.randomseed math.sin math.sqrt math.tan math.tointeger math.type \
    math.ult next os os.clock os.date os.difftime os.time pairs pcall print rawequal rawget rawlen rawset select setmetatable \
    string string.byte string.char string.find string.format string.gmatch string.gsub string.len string.lower string.match \
    string.pack string.packsize string.rep string.reverse string.sub string.unpack string.upper table table.concat table.insert \
    table.move table.pack table.remove table.sort table.unpack tonumber tostring type utf8 utf8.char utf8.charpattern \
    utf8.codepoint utf8.codes utf8.len utf8.offset xpcall
    """

  static let walk = """
    local seen, names = {}, {}
    local function walk(value, name)
      if name ~= '' then names[#names + 1] = name end
      if type(value) ~= 'table' or seen[value] then return end
      seen[value] = true
      for k, v in next, value do walk(v, name == '' and tostring(k) or name .. '.' .. tostring(k)) end
      if getmetatable(value) ~= nil then walk(getmetatable(value), name .. '<metatable>') end
    end
    walk(_ENV, '')
    table.sort(names)
    print(table.concat(names, ' '))
    """

  @Test("every reachable value is on the golden list")
  func goldenList() throws {
    #expect(try LuaState.forTest().run(Self.walk) == Self.golden)
  }

  @Test("the allow-list gives each name once, with a reason")
  func allowList() {
    var names: [String] = []
    var at = shl_allow_list()!
    while let name = at.pointee.name {
      let library = String(cString: at.pointee.library)
      names.append(library.isEmpty ? String(cString: name) : library + "." + String(cString: name))
      #expect(strlen(at.pointee.reason) > 5)
      at += 1
    }
    let libraries: Set = ["coroutine", "math", "os", "string", "table", "utf8"]
    #expect(Set(names).union(libraries) == Set(Self.golden.split(separator: " ").map(String.init)))
    #expect(Set(names).count == names.count)
  }

  @Test("no value of a script leads to functions outside the list")
  func callableResults() throws {
    let state = try LuaState.forTest()
    #expect(state.run("print(getmetatable(''), getmetatable(print), getmetatable(coroutine.running()), getmetatable(1))") == "nil\tnil\tnil\tnil")
    // What iterators and factories answer is ours too.
    #expect(state.run("local f = pairs({}) print(f == next, rawequal(f, next))") == "true\ttrue")
    #expect(state.run("local mt = {} setmetatable({}, mt) print(next(mt), rawlen(mt))") == "nil\t0")
  }

  @Test("tostring and format show no addresses, stable and different per value")
  func addresses() throws {
    let state = try LuaState.forTest()
    #expect(state.run("local t, u = {}, {} print(tostring(t) == tostring(t), tostring(t) ~= tostring(u), (tostring(t):match('^table: 0x%x+$')) ~= nil)") == "true\ttrue\ttrue")
    #expect(state.run("local t = {} print(string.format('%s', t) == tostring(t), 'table: ' .. string.format('%p', t) == tostring(t), string.format('%p', 1), (string.format('%-20p|', t):match(' |$')) ~= nil)") == "true\ttrue\t(null)\ttrue")
    #expect(state.run("print((tostring(print):match('^function: 0x%x+$')) ~= nil, (tostring(coroutine.create(print)):match('^thread: 0x%x+$')) ~= nil)") == "true\ttrue")
  }

  @Test("S49 S50 states share nothing")
  func isolation() throws {
    let a = try LuaState.forTest(), b = try LuaState.forTest()
    _ = a.run("string.rep = nil; string.upper = function() return 'evil' end; x = 1; print = nil; _G.pairs = error; math.pi = 3")
    #expect(b.run("print(x, ('a'):rep(2), ('a'):upper(), math.pi > 3.1)") == "nil\taa\tA\ttrue")
    // Not even its own string methods: they live in a table scripts cannot reach.
    #expect(a.run("local f = ('a').upper; return") == "")
    #expect(try a.call(a.compile("return ('a'):upper()", name: "t")) == [LuaValue("A")])
  }

  @Test("secret names of metamethods cannot be used by scripts")
  func secretNames() throws {
    let state = try LuaState.forTest()
    #expect(state.run("""
      local mt = {} local t = setmetatable({}, mt)
      mt.__gc = function() x = 1 end mt.__mode = 'k'
      t[{}] = 1 t = nil
      for i = 1, 20000 do local y = {} end
      print(x)
      """) == "nil")
  }

  @Test("print is bounded and names its place")
  func printing() throws {
    let state = try LuaState.forTest()
    let output = Output()
    state.setPrint { text, source, line in output.add("\(source):\(line): \(text.utf8.count) \(text.suffix(5))") }
    try state.load("\nprint(('x'):rep(100000), 1)\nprint(1, nil, 'a\\tb')", name: "p.lua")
    #expect(output.text == "p.lua:2: 16387 xx...\np.lua:3: 9 l\ta\tb")
  }
}

@Suite("source text")
struct SourceTests {
  struct Case: CustomTestStringConvertible, Sendable {
    let name: String
    let bytes: [UInt8]
    /// nil: it loads.
    let message: String?
    var testDescription: String { name }
    init(_ name: String, _ bytes: [UInt8], _ message: String?) {
      self.name = name
      self.bytes = bytes
      self.message = message
    }
    init(_ name: String, _ text: String, _ message: String?) { self.init(name, Array(text.utf8), message) }
  }

  /// A function that uses 260 locals of two functions around it.
  static let manyUpvalues: String = {
    func names(_ prefix: String, by separator: String) -> String {
      (1...130).map { "\(prefix)\($0)" }.joined(separator: separator)
    }
    return "local \(names("a", by: ","))\nlocal function f() local \(names("b", by: ","))\nreturn function() return "
      + names("a", by: "+") + "+" + names("b", by: "+") + " end end"
  }()

  static let cases: [Case] = [
    Case("S51 empty file", "", "f.lua: the file is empty"),
    Case("S52 only a byte-order mark", [0xEF, 0xBB, 0xBF], "f.lua: the file is empty"),
    Case("S52b byte-order mark and text", [0xEF, 0xBB, 0xBF] + Array("return 1".utf8), nil),
    Case("S53 CRLF", "local x = 1\r\nlocal y = 2\r\nerror('here')", "f.lua:3: here"),
    Case("S53b CR", "local x = 1\rlocal y = 2\rerror('here')", "f.lua:3: here"),
    Case("S54 UTF-16 little endian", [0xFF, 0xFE, 0x78, 0, 0x3D, 0], "f.lua: the file is UTF-16; save it as UTF-8"),
    Case("S54b UTF-16 big endian", [0xFE, 0xFF, 0, 0x78, 0, 0x3D], "f.lua: the file is UTF-16; save it as UTF-8"),
    Case("S54c UTF-16 without a mark", [0x78, 0, 0x3D, 0, 0x31, 0], "f.lua:1: NUL byte in the source; the file looks like UTF-16, save it as UTF-8"),
    Case("S55 first line #!", "#!/usr/bin/lua\nerror('here')", "f.lua:2: here"),
    Case("S55b only #!", "#!/usr/bin/lua", nil),
    Case("S56 NUL bytes", "local x = 1\nx = \0 2", "f.lua:2: NUL byte in the source; is this a text file?"),
    Case("S57 unfinished long string", "x = [[ abc", "f.lua:1: unfinished long string (starting at line 1) near <eof>"),
    Case("S34 binary chunk", "\u{1B}Lua", "f.lua: binary chunks are not allowed; load the source text"),
    Case("S44 one byte too many", String(repeating: " ", count: 128 * 1024 + 1), "f.lua: the file has 131073 bytes, at most 131072 are allowed; split it"),
    Case("S44b just small enough", String(repeating: " ", count: 128 * 1024), nil),
    Case("S45 201 locals", "local " + (1...201).map { "a\($0)" }.joined(separator: ","), "f.lua:1: too many local variables (limit is 200) in main function near <eof>"),
    Case("S45b 260 upvalues", manyUpvalues, "f.lua:3: too many upvalues (limit is 255) in function at line 3 near '+'"),
    Case("S42 an index chain of 100,000", "local x = nil; return 1 + x" + String(repeating: ".a", count: 60000), "f.lua:1: expression too complex: more than 200 fields or indexes in a row"),
    Case("S42b in brackets", "local x = nil; return 1 + x" + String(repeating: "['a']", count: 2000), "f.lua:1: expression too complex: more than 200 fields or indexes in a row"),
    Case("S42c with comments and line breaks", "return x" + String(repeating: " --[[ c ]] .\na", count: 3000), "f.lua:201: expression too complex: more than 200 fields or indexes in a row"),
    Case("S42d in parentheses", "return " + String(repeating: "(", count: 20) + "x" + String(repeating: ".a.a.a.a.a.a.a.a.a.a.a)", count: 20), "f.lua:1: expression too complex: more than 200 fields or indexes in a row"),
    Case("S42e method links", "return x" + String(repeating: ":a'y'", count: 300), nil as String?),
    Case("S42f two hundred are fine", "local x = setmetatable({}, {__index = function(t) return t end}); return x" + String(repeating: ".a", count: 200), nil),
    Case("S42g ordinary long programs", String(repeating: "x = {} x.y = {} x.y.z = 1 x['y'].z = x.y['z'] + 1.5 .. 'a' .. [[x.y.z.a.b]] -- a.b.c.d\n", count: 1000), nil),
    Case("S42h numbers and ranges are no links", "local t = {" + String(repeating: "1.5, .5, 1 ..2, ", count: 300) + "}", nil),
    Case("S43 many labels", (0..<6000).map { "::l\($0):: x = 1" }.joined(separator: "\n"), nil),
    Case("a chunk that returns nothing", "return", nil),
  ]

  @Test("loads, or says why not", arguments: cases)
  func source(_ c: Case) throws {
    let state = try LuaState.forTest(ms: 2000, loadMS: 2000)
    var message: String?
    do throws(LuaFailure) {
      try guardedTyped(c.name) { () throws(LuaFailure) in
        try load(c.bytes, into: state)
      }
    } catch { message = error.message }
    if c.message == nil, c.name.hasPrefix("S42e") {
      #expect(message?.contains("too complex") != true)
    } else {
      #expect(message == c.message)
    }
    #expect(state.run("print(1)") == "1")
  }

  @Test("syntax errors tell position and whether more input would help")
  func syntax() throws {
    let state = try LuaState.forTest()
    func reason(_ source: String) -> LuaFailure? {
      do throws(LuaFailure) {
        _ = try state.compile(source, name: "s.lua")
        return nil
      } catch { return error }
    }
    #expect(reason("if x then")?.reason == .syntax(moreInput: true))
    #expect(reason("f(")?.reason == .syntax(moreInput: true))
    #expect(reason("x = [[ a")?.reason == .syntax(moreInput: true))
    #expect(reason("for i = 1,")?.reason == .syntax(moreInput: true))
    #expect(reason("x = = 1")?.reason == .syntax(moreInput: false))
    #expect(reason("x = 'abc")?.reason == .syntax(moreInput: false))
    #expect(reason("return 1") == nil)
    let error = reason("\n\nlocal 5")
    #expect(error?.line == 3)
    #expect(error?.source == "s.lua")
    #expect(error?.message == "s.lua:3: <name> expected near '5'")
  }
}

private func load(_ bytes: [UInt8], into state: LuaState) throws(LuaFailure) {
  let outcome: Result<Void, LuaFailure> = bytes.withUnsafeBytes { buffer in
    do throws(LuaFailure) { return .success(try state.load(buffer, name: "f.lua")) } catch { return .failure(error) }
  }
  try outcome.get()
}

private func guardedTyped(_ name: String, _ body: () throws(LuaFailure) -> Void) throws(LuaFailure) {
  let outcome: Result<Void, LuaFailure> = guardedAgainstHanging(name) {
    do throws(LuaFailure) { return .success(try body()) } catch { return .failure(error) }
  }
  try outcome.get()
}
