import Foundation
import SwiftMangling
import Testing

public struct Outer<A> {
  public struct Plain { public struct Inner<B> {} }
  public enum Choice<B, C> { case none }
}
extension String { public struct Adornment { public enum Größe { case one } } }
private struct Hidden {}
private typealias Consuming = (consuming String) -> Void
private typealias Variadic = (Int...) -> Void
public protocol First {}
public protocol Second {}

@Suite struct TypeTests {
  /// The runtime's own mangling of a type, read by us, spelled by us, given back to the runtime.
  private func roundTrip(_ type: Any.Type) throws {
    let name = try #require(_mangledTypeName(type))
    let syntax = try parsedType(name)
    let spelled = try #require(mangled(syntax), "\(name) \(syntax)")
    let text = String(decoding: spelled, as: UTF8.self)
    let back = try #require(_typeByName(text), "\(name) became \(text)")
    #expect(ObjectIdentifier(back) == ObjectIdentifier(type), "\(name) became \(text)")
  }

  @Test("types survive the way through the model")
  func roundTrips() throws {
    let types: [Any.Type] = [
      Int.self, String.self, [Int].self, [String: [Int?]].self, Int??.self, Void.self, (Int, String).self,
      (a: Int, b: String).self, Any.self, AnyObject.self, Any.Type.self, Int.Type.self, (any First).self,
      (any First & Second).self, (any First & AnyObject).self, (any Error).self, (any First).Type.self,
      ((Int) -> String).self, (() -> Void).self, ((Int, inout String) async throws -> Bool).self,
      Variadic.self, (((Int, Int)) -> Void).self, ((@escaping () -> Void) -> Void).self, ((() -> Void) -> Void).self,
      (@Sendable (Int) -> Void).self, (@MainActor () -> Void).self, (@convention(c) (Int32) -> Void).self,
      Consuming.self, ((Int) throws(CancellationError) -> Void).self,
      Outer<Int>.self, Outer<Int>.Plain.self, Outer<Int>.Plain.Inner<String>.self, Outer<[Int]>.Choice<String, Int?>.self,
      String.Adornment.self, String.Adornment.Größe.self, (any Sendable).self, [any First & Sendable].self,
      Range<Int>.self, Set<String>.self, Dictionary<String, Int>.Index.self, Task<Int, Never>.self, MainActor.self,
      UnsafeMutablePointer<UInt8>.self, KeyPath<String, Int>.self, Data.self, URL.self, Date.self, NSObject.self, JSONDecoder.self,
      Unicode.Scalar.self, String.UTF8View.self, AsyncStream<Int>.Continuation.self, ObjectIdentifier.self,
    ]
    for type in types { try roundTrip(type) }
  }

  @Test("types found in real symbols are accepted by the runtime")
  func realTypes() throws {
    var parser = SymbolParser()
    var seen: Set<TypeSyntax> = []
    let libraries = ["libFoundation.so", "libFoundationEssentials.so", "libswiftCore.so"]
    for name in try libraries.flatMap({ try Toolchain.symbols(of: Toolchain.library($0)) }) {
      // A symbol of a function names types of its own and other modules.
      guard let type = parser.declaration(name)?.type, !type.mentionsGenericParameter else { continue }
      if case .function(let function) = type {
        for parameter in function.parameters { seen.insert(parameter.type) }
        seen.insert(function.result)
      } else {
        seen.insert(type)
      }
    }
    var spelledCount = 0
    var found = 0
    var missing: [String] = []
    for type in seen {
      guard let spelled = mangled(type) else { continue }
      spelledCount += 1
      // What we spell we read back the same, whether or not this process has the type.
      // (The runtime keeps neither marker protocols nor all conventions of function types.)
      let text = String(decoding: spelled, as: UTF8.self)
      let isExact = !type.description(qualified: true).contains("Sendable")
      if isExact { #expect(parser.type(text) == type, "\(text)") }
      if let real = _typeByName(text) {
        found += 1
        let name = try #require(_mangledTypeName(real))
        let again = try parsedType(name)
        if isExact, !type.description(qualified: true).contains("->") {
          #expect(again == type, "\(text) is \(name)")
        }
      } else {
        missing.append(text)
      }
    }
    print("types: \(seen.count) seen, \(spelledCount) spelled, \(found) found by the runtime")
    #expect(Double(found) > 0.9 * Double(spelledCount), "\(missing.prefix(20))")
  }

  @Test("a private type of this process and a block have no spelling")
  func unspelledHere() throws {
    #expect(mangled(try parsedType(try #require(_mangledTypeName(Hidden.self)))) == nil)
    #expect(mangled(try parsedType("yyXBSg")) == nil)
  }

  @Test("what depends on its place has no spelling", arguments: ["x", "Sayq_G", "7ElementQz", "4main1fyyF1AL_V", "Sa4mainSiRszlE1AV"])
  func unspelled(_ name: String) throws {
    #expect(mangled(try parsedType(name)) == nil)
  }

  private func parsedType(_ name: String) throws -> TypeSyntax {
    var parser = SymbolParser()
    let type = parser.type(name)
    return try #require(type, "\(name)")
  }
}
