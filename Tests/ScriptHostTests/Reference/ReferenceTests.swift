import LuaBridge
import Testing

@testable import ScriptHost

@Suite("the reference and what is registered")
struct ReferenceTests {
  @Test("every global of a script is in the reference, and every entry is there")
  func globals() throws {
    let environment = try Environment(id: "reference", fileName: "reference.lua", log: HostLog(recorder: nil, isVerbose: false), globals: PatchAPI.register)
    // Made for texts that name it.
    try environment.makeConfig()
    let source = """
      local names = {}
      for name, value in pairs(_G) do
        names[#names + 1] = name
        if type(value) == "table" and value ~= _G then
          for member in pairs(value) do names[#names + 1] = name .. "." .. member end
        end
      end
      return table.concat(names, "\\n")
      """
    let answer = try environment.lua.call(try environment.lua.compile(source, name: "names")).first?.text
    let found = Set(try #require(answer).split(separator: "\n").map(String.init))
    var known = Set(ScriptReference.standard.map { $0.library.isEmpty ? $0.name : "\($0.library).\($0.name)" })
    known.formUnion(ScriptReference.standard.map(\.library))
    for entry in ScriptReference.entries where !entry.isMember {
      known.insert(entry.fullName)
      if !entry.owner.isEmpty { known.insert(entry.owner) }
    }
    #expect(found.subtracting(known).sorted() == [])
    // `class` is a handle, whose field is no name of a table.
    #expect(known.subtracting(found).subtracting(["", "class.define"]).sorted() == [])
  }

  @Test("every entry tells what it is", arguments: ScriptReference.entries.map(\.fullName))
  func entries(_ name: String) throws {
    let entry = try #require(ScriptReference.entries.first { $0.fullName == name })
    #expect(entry.summary.hasSuffix("."))
    #expect(entry.kind == .value || entry.signature.contains("("))
    #expect(ScriptReference.example(of: entry) != nil, "neither an example of its own nor one that uses it")
    if entry.isMember { #expect(ScriptReference.types.contains { $0.name == entry.owner }) }
  }

  @Test("a signature says how many arguments there are")
  func arity() throws {
    #expect(ScriptReference.entry("method")?.arity == 1...2)
    #expect(ScriptReference.entry("swift.call")?.arity == 1...Int.max)
    #expect(ScriptReference.member("around", of: "Class")?.arity == 2...3)
    #expect(ScriptReference.member("remove", of: "Hook")?.arity == 0...0)
    #expect(ScriptReference.entry("swift.u64")?.parameters == [ScriptParameter(name: "number", type: "integer|string", isOptional: false)])
  }
}
