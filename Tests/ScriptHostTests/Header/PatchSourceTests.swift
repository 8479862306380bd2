import Journal
import Testing

@testable import ScriptHost

@Suite("The text of a patch, wherever it is from")
struct PatchSourceTests {
  private func source(_ text: String, _ path: String, directory: String? = nil) throws(PatchError) -> PatchSource {
    try PatchSource(Array(text.utf8), from: PatchProvenance(path: RawPath(path), directory: directory.map { RawPath($0) }, changed: 7))
  }

  @Test("a text that no file holds is a patch: its names come from where it is said to be from")
  func withoutFile() throws {
    let single = try source("log.info('hello')", "/nowhere/hello.lua")
    #expect(single.id == "hello.lua" && single.chunkName == "hello.lua" && single.changed == 7)
    let named = try source("patch { id = 'greeter' }", "/nowhere/greet/patch.lua", directory: "/nowhere/greet")
    #expect(named.id == "greeter" && named.chunkName == "greet/patch.lua")
  }

  @Test("it runs as one that was read from a file")
  func runs() throws {
    let source = try source("patch { id = 'sum' }\nsum = 1 + 2\nerror('here')", "/nowhere/sum.lua")
    let patch = try Patch(source, log: HostLog(recorder: nil, isVerbose: false), globals: PatchAPI.register)
    let error = #expect(throws: PatchError.self) { try patch.run(source.source) }
    #expect(error?.description.hasPrefix("sum.lua:3: here") == true)
  }

  @Test("what no file of a patch may be, no text may be: bytecode, or longer than the interpreter reads")
  func refused() {
    #expect(throws: PatchError.self) { _ = try source("\u{1B}Lua", "/nowhere/a.lua") }
    #expect(throws: PatchError.self) { _ = try source(String(repeating: " ", count: PatchSource.longest + 1), "/nowhere/a.lua") }
  }
}
