import Testing

@testable import HookRuntime
import SwiftMangling

@Suite("C prototypes")
struct CPrototypeTests {
  @Test(
    "what is read is what is shown",
    arguments: [
      ("C.getaddrinfo(cstring, cstring, pointer, pointer) -> int32", "C.getaddrinfo(cstring, cstring, pointer, pointer) -> int32"),
      ("open( path : cstring , flags: int, ... )->int", "C.open(path: cstring, flags: int32, ...) -> int32"),
      ("C.getpid(void) -> int32", "C.getpid() -> int32"),
      ("C.free(pointer)", "C.free(pointer)"), ("C.free(_: pointer) -> void", "C.free(pointer)"),
      ("C.f(bool, char, uint16, ulong, size, ssize, float, double)", "C.f(bool, int8, uint16, uint64, uint64, int64, float, double)"),
    ])
  func spelling(_ written: String, _ shown: String) throws {
    #expect(try CPrototype(written).description == shown)
  }

  @Test(
    "what is wrong is told with its place",
    arguments: [
      ("C.f(Int32)", "'C.f(Int32)', character 5: 'Int32' is no C type here; did you mean 'int32'?"),
      ("C.f(String)", "'C.f(String)', character 5: 'String' is no C type here; did you mean 'cstring'?"),
      ("C.f(Int)", "'C.f(Int)', character 5: 'Int' is no C type here; did you mean 'int64'?"),
      ("C.f(int322)", "'C.f(int322)', character 5: 'int322' is no C type here; did you mean 'int32'?"),
      (
        "C.f(whatever)",
        "'C.f(whatever)', character 5: 'whatever' is no C type here; known are void, bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float, double, cstring, pointer"
      ),
      (
        "C.f(struct stat)",
        "'C.f(struct stat)', character 11: 'struct': structs by value are not supported; hook without a prototype to see calls, not values"
      ),
      ("C.f(char *)", "'C.f(char *)', character 10: a pointer is spelled 'pointer', a text 'cstring'"),
      ("C.f(..., int32)", "'C.f(..., int32)', character 8: '...' comes last: expected ')'"),
      ("C.f(int32", "'C.f(int32', character 10: expected ',' or ')'"),
      ("C.f(int32) int32", "'C.f(int32) int32', character 12: unexpected 'int32'"),
      ("C.f(int32) ->", "'C.f(int32) ->', character 14: expected a type"),
      ("C.f(int32, void)", "'C.f(int32, void)', character 17: 'void' is no type of an argument"),
      ("C.(int32)", "'C.(int32)', character 3: expected the name of a C function"),
    ])
  func mistakes(_ written: String, _ sentence: String) {
    #expect(throws: CPrototypeError(description: sentence)) { try CPrototype(written) }
  }

  @Test("every line of the table is read, and the other forms have the labels of their function")
  func table() throws {
    var function: CPrototype?
    for line in CFunctions.table.split(separator: "\n") {
      let prototype = try CPrototype(String(line))
      if line.first != " " { function = prototype }
      let plain = try #require(function)
      #expect(CFunctions.form(prototype.name)?.form == prototype)
      for parameter in plain.parameters {
        #expect(prototype.parameters.contains { $0.label == parameter.label && $0.type == parameter.type }, "\(prototype)")
      }
    }
  }

  @Test("arguments are where the System V rules put them")
  func places() throws {
    let prototype = try CPrototype("C.f(int32, double, pointer, float, int64, int64, int64, int64, bool, double) -> double")
    let plan = prototype.plan(calledAs: prototype)
    #expect(
      plan.arguments.map(\.location.notation) == [
        "i0:4@0", "f0:8@0", "i1:8@0", "f1:4@0", "i2:8@0", "i3:8@0", "i4:8@0", "i5:8@0", "s0:1@0", "f2:8@0",
      ])
    #expect(plan.result.location.notation == "f0:8@0")
    #expect(plan.stack == StackArguments(bytes: 8, isKnown: true))
    #expect(plan.obstacle == nil)
    #expect(prototype.declaration.selectorName == "C.f")
  }

  @Test("a fortified form has its arguments by their labels; a variadic one an open end")
  func forms() throws {
    let form = try #require(CFunctions.form("__recv_chk"))
    let plan = form.function.plan(calledAs: form.form)
    #expect(plan.arguments.map(\.label) == ["socket", "buffer", "length", "flags"])
    #expect(plan.arguments.map(\.location.notation) == ["i0:4@0", "i1:8@0", "i2:8@0", "i4:4@0"])
    let open = try #require(CFunctions.form("open"))
    #expect(!open.function.plan(calledAs: open.form).stack.isKnown)
  }

  @Test("selectors: a name, an image, a prototype")
  func selectors() throws {
    let connect = try #require(CSelector("C.connect in libcurl.so.*"))
    #expect(connect.name == "connect" && connect.importer == "libcurl.so.*" && connect.prototype == nil && !connect.isGlob)
    let step = try #require(CSelector("C.sqlite3_step(statement: pointer) -> int32 in app"))
    #expect(step.name == "sqlite3_step" && step.importer == "app" && step.prototype?.result == .int32)
    #expect(CSelector("C.pthread_*")?.isGlob == true)
    #expect(CSelector("C.pthread_*")?.matches("pthread_mutex_lock") == true)
    #expect(CSelector("Clock.now()") == nil)
    #expect(CSelector("C.f(Int32)")?.problem != nil)
  }
}
