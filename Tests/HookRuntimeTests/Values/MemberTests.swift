// Stored fields, cases, opened existentials, conformances: what the runtime knows against what the source says.
@testable import HookRuntime
import Foundation
import SwiftMangling
import Testing

private protocol Shape { associatedtype Unit; var side: Int { get } }
private class Base { var first: Int8 = 1; private var hidden = "h" }
private final class Derived<T>: Base {
  var item: T; weak var friend: Base?; unowned(unsafe) var raw: Base; let kind: Int.Type = Int.self; var after = 7
  init(_ item: T, _ raw: Base) { self.item = item; self.raw = raw }
}
private struct Pair<A, B> { var a: A; let b: B }
private enum Choice { case number(Int), pair(Int8, String), none, object(Base), other; indirect case again(Choice) }
private enum Packed { case a(Base), b(Base), c(Bool) }
private struct Square: Shape { typealias Unit = UInt16; var side = 3; var big = (1, 2, 3, 4) }
private struct Failed: Error { var code = 404; var text = "lost" }

@Suite("values: members")
struct ValuesMemberTests {
  private func info(_ type: Any.Type) throws -> TypeInfo { try TypeResolver.shared.type(of: Metadata(type)).get() }

  private func describe(_ fields: [StoredField]) -> [String] {
    fields.map {
      "\($0.name):\((try? $0.type.get().name) ?? "?")@\($0.offset)\($0.isVar ? "" : " let")\($0.reference == .value ? "" : " \($0.reference)")"
    }
  }

  @Test("a generic class lists its own fields, then the inherited ones")
  func classFields() throws {
    let fields = try info(Derived<String>.self).fields
    #expect(fields.map(\.name) == ["item", "friend", "raw", "kind", "after", "first", "hidden"])
    #expect(describe(fields).suffix(3) == ["after:Swift.Int@\(fields[4].offset)", "first:Swift.Int8@16", "hidden:Swift.String@24"])
    #expect(try fields[0].type.get().name == "Swift.String")
    #expect([fields[1].reference, fields[2].reference] == [.weak, .unmanaged])
    #expect(try fields[1].type.get().name.hasPrefix("Swift.Optional<"))
    #expect(try fields[3].type.get().size == 0)
    #expect(!fields[3].isVar && fields[4].isVar)
    let object = Derived("x", Base())
    let after = Unmanaged.passUnretained(object).toOpaque().load(fromByteOffset: fields[4].offset, as: Int.self)
    #expect(after == 7)
  }

  @Test("structs and tuples")
  func structFields() throws {
    #expect(describe(try info(Pair<Int8, Double>.self).fields) == ["a:Swift.Int8@0", "b:Swift.Double@8 let"])
    #expect(describe(try info((x: Int8, Int, last: Bool).self).fields) == ["x:Swift.Int8@0", "1:Swift.Int@8", "last:Swift.Bool@16"])
    #expect(describe(try info((Int, Bool).self).fields) == ["0:Swift.Int@0", "1:Swift.Bool@8"])
  }

  @Test("a field of a class with a superclass whose size only its library knows")
  func resilientSuperclass() throws {
    final class Note: JSONEncoder, @unchecked Sendable { var mark = 77 }
    let note = Note()
    let field = try #require(try info(Note.self).fields.first { $0.name == "mark" })
    #expect(Unmanaged.passUnretained(note).toOpaque().load(fromByteOffset: field.offset, as: Int.self) == 77)
  }

  private func show<T>(_ value: T) throws -> String {
    let type = try info(T.self)
    return try withUnsafePointer(to: value) { pointer in
      let memory = UnsafeRawPointer(pointer)
      let number = try #require(type.caseNumber(of: memory))
      let payload = type.withPayload(of: memory) { bytes, info in
        var text = ""
        ValuePrinter().print(bytes, info, into: &text)
        return text
      }
      return type.cases[number].name + (payload.map { "(\($0))" } ?? "")
    }
  }

  @Test("cases and payloads, also where they share bits")
  func cases() throws {
    let type = try info(Choice.self)
    #expect(type.cases.map(\.name) == ["number", "pair", "object", "again", "none", "other"])
    #expect(type.cases.map(\.hasPayload) == [true, true, true, true, false, false])
    #expect(type.cases.map(\.isIndirect) == [false, false, false, true, false, false])
    #expect(try show(Choice.number(5)) == "number(5)")
    #expect(try show(Choice.pair(-1, "two")) == "pair((-1, \"two\"))")
    #expect(try show(Choice.none) == "none")
    let boxed = try show(Choice.object(Base()))
    #expect(boxed == "object(<Base>)")
    #expect(try show(Choice.again(.number(6))).hasPrefix("again("))
    #expect(try show(Packed.b(Base())) == "b(<Base>)")
    #expect(try show(Packed.c(true)) == "c(true)")
    #expect(try show(Int??.some(.some(3))) == "some(3)")
    #expect(try show(Result<String, Failed>.success("yes")) == "success(\"yes\")")
  }

  private func open<T>(_ value: T) throws -> String {
    let type = try info(T.self)
    return try withUnsafePointer(to: value) { pointer in
      let (memory, dynamic) = try #require(type.openExistential(pointer))
      var text = ""
      ValuePrinter().print(memory, dynamic, into: &text)
      return text
    }
  }

  @Test("existentials open to what they hold")
  func existentials() throws {
    #expect(try open(5 as Any) == "5")
    let shape = try open(Square() as any Shape)
    #expect(shape.hasPrefix("Square(side: 3"))
    let failed = try open(Failed() as any Error)
    #expect(failed == "Failed(code: 404, text: \"lost\")")
    let object = try open(Base() as AnyObject)
    #expect(object == "<Base>")
    #expect(try open(["a", "b"] as any Collection<String>) == "Array<String>(2)")
  }

  @Test("generic arguments, conformances and associated types")
  func conformances() throws {
    #expect(Metadata([String: Int].self).genericArgumentMetadata == [Metadata(String.self), Metadata(Int.self)])
    #expect(Metadata(Derived<Int8>.self).genericArgumentMetadata == [Metadata(Int8.self)])
    #expect(Metadata(Int.self).genericArgumentMetadata == [])
    let sequence = try #require(
      TypeResolver.shared.protocolDescriptor(NominalName(module: "Swift", steps: [.init(name: "Sequence", kind: .protocolType)])))
    #expect(sequence.name == "Sequence" && !sequence.isClassBound)
    #expect(Metadata([Int8].self).associatedType("Element", of: sequence) == Metadata(Int8.self))
    #expect(Metadata([Int8: Bool].self).associatedType("Iterator", of: sequence) == Metadata(Dictionary<Int8, Bool>.Iterator.self))
    #expect(Metadata(Int.self).conformance(to: sequence) == nil)
    let shape = try info((any Shape).self).metadata.protocols[0]
    #expect(Metadata(Square.self).associatedType("Unit", of: shape) == Metadata(UInt16.self))
  }
}
