// Kit — what the generated programs share: how values are shown, where lines go, the classes and protocols.
// Text of a value never depends on how it was passed: every value is shown from its own memory.

nonisolated(unsafe) public var live = 0
nonisolated(unsafe) private var lines: [String] = []

public func out(_ line: String) { print(line) }

/// Hides where a value comes from, so that nothing is computed at compile time.
@inline(never) @_optimize(none)
public func opaque<T>(_ value: T) -> T { value }

public protocol Show { var sh: String { get } }
extension FixedWidthInteger { public var sh: String { "\(self)" } }
extension Int: Show {}
extension Int8: Show {}
extension Int16: Show {}
extension Int32: Show {}
extension Int64: Show {}
extension UInt: Show {}
extension UInt8: Show {}
extension UInt16: Show {}
extension UInt32: Show {}
extension UInt64: Show {}
extension Int128: Show {}
extension Double: Show { public var sh: String { isNaN ? "nan" : "d" + String(bitPattern, radix: 16) } }
extension Float: Show { public var sh: String { isNaN ? "nan" : "f" + String(bitPattern, radix: 16) } }
extension Float16: Show { public var sh: String { "h" + String(bitPattern, radix: 16) } }
extension Float80: Show { public var sh: String { "x\(self)" } }
extension SIMD4: Show where Scalar == Float { public var sh: String { "v\(x),\(y),\(z),\(w)" } }
extension SIMD2: Show where Scalar == Int { public var sh: String { "w\(x),\(y)" } }
extension Bool: Show { public var sh: String { self ? "true" : "false" } }
extension String: Show {
  public var sh: String {
    var text = "s"
    for byte in utf8 { text += byte < 16 ? "0" + String(byte, radix: 16) : String(byte, radix: 16) }
    return text
  }
}
extension Substring: Show { public var sh: String { "sub" + String(self).sh } }
extension Character: Show { public var sh: String { "char" + String(self).sh } }
extension Optional: Show where Wrapped: Show { public var sh: String { if let value = self { value.sh } else { "nil" } } }
extension Array: Show where Element: Show { public var sh: String { "[" + map(\.sh).joined(separator: ",") + "]" } }
extension Unicode.GeneralCategory: Show { public var sh: String { "\(self)" } }
extension TaskPriority: Show { public var sh: String { "p\(rawValue)" } }
extension ObjectIdentifier: Show { public var sh: String { "oid" } }

public protocol P: Show {}
public protocol PC: AnyObject, Show {}
public protocol Q: AnyObject, Show {}

open class C: PC, Q, Show {
  public let id: Int
  public var text: String
  public init(number id: Int) {
    self.id = id
    text = "a text longer than fifteen bytes \(id)"
    live += 1
  }
  deinit { live -= 1 }
  public var sh: String { "C#\(id)" + (text.hasSuffix(" \(id)") ? "" : "!") }
}
public final class D: C, @unchecked Sendable {
  public override var sh: String { "D#\(id)" + (text.hasSuffix(" \(id)") ? "" : "!") }
}
extension Int: P {}
extension String: P {}
extension C: P {}
public struct Large: P {
  public var a: Int, b: String, c: C, d: Double, e: Int8, f: Int
  public init(_ n: Int) { a = n; b = "a text longer than fifteen bytes \(n)"; c = C(number: n); d = Double(n); e = 1; f = -n }
  public var sh: String { "Large\(a)/\(b.utf8.count)/\(c.sh)/\(d)/\(e)/\(f)" }
}
public enum Failure: Error, Show {
  case plain
  case text(String)
  case object(C)
  public var sh: String {
    switch self {
    case .plain: "plain"
    case .text(let text): "text " + text.sh
    case .object(let object): "object " + object.sh
    }
  }
}
public struct Broken: Error, Show {
  public var a: Int, b: String
  public init(_ a: Int) { self.a = a; b = "a text longer than fifteen bytes" }
  public var sh: String { "Broken\(a)/\(b.utf8.count)" }
}
public func shown(_ error: any Error) -> String { (error as? any Show)?.sh ?? "?" }
public func shown(any value: Any) -> String { "Any " + ((value as? any Show)?.sh ?? "?") }
