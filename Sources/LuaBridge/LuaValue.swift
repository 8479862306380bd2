// LuaValue — a Lua value by itself, for the places where speed does not matter.
//
// Hook dispatch works on SHLValue, which owns nothing; the console, tests and loading use this.

package import CLuaShim

/// A Lua value that stays valid without a scope.
package enum LuaValue: Equatable, Sendable {
  case `nil`
  case bool(Bool)
  case int(Int64)
  case number(Double)
  /// Any bytes; see `init(_: String)`.
  case string([UInt8])
  case handle(cls: UInt32, a: UInt64, b: UInt64, c: UInt64)
  case call(UInt64)
  case constant(Int64)
  /// A table, function or coroutine, kept alive by the reference.
  case reference(LuaReference)

  package init(_ text: String) { self = .string(Array(text.utf8)) }

  /// The bytes as text; nil for other values and for bytes that are not UTF-8.
  package var text: String? {
    guard case .string(let bytes) = self else { return nil }
    return String(validating: bytes, as: UTF8.self)
  }
}

/// A value kept alive in a state's registry. Given back when the last copy goes, from any thread, without waiting.
package final class LuaReference: Equatable, Sendable {
  package let state: LuaState
  package let raw: SHLRef

  /// Takes over a reference made by the shim.
  package init(_ raw: SHLRef, in state: LuaState) {
    self.raw = raw
    self.state = state
  }

  deinit { shl_forget(state.raw, raw) }

  package static func == (a: LuaReference, b: LuaReference) -> Bool { a === b }
}

extension LuaValue {
  /// Copies a value out of a scope. Tables and functions get a reference; nil when memory ran out for it.
  package init?(_ value: SHLValue, in scope: UnsafeMutablePointer<SHLScope>, of state: LuaState) {
    switch value.tag {
    case SHL_NIL: self = .nil
    case SHL_BOOL: self = .bool(value.b)
    case SHL_INT: self = .int(value.i)
    case SHL_NUMBER: self = .number(value.n)
    case SHL_STRING: self = .string(Array(value.bytes))
    case SHL_HANDLE: self = .handle(cls: value.cls, a: value.h.a, b: value.h.b, c: value.h.c)
    case SHL_CALL: self = .call(value.call)
    case SHL_CONSTANT: self = .constant(value.i)
    default:
      let reference = shl_keep(scope, value)
      guard reference != 0 else { return nil }
      self = .reference(LuaReference(reference, in: state))
    }
  }

  /// Calls `body` with this value as the shim sees it; bytes are valid during the call only.
  package func withRaw<Result>(_ body: (SHLValue) -> Result) -> Result {
    switch self {
    case .nil: body(shl_nil())
    case .bool(let b): body(shl_bool(b))
    case .int(let i): body(shl_int(i))
    case .number(let n): body(shl_number(n))
    case .string(let bytes):
      bytes.withUnsafeBytes {
        body(shl_string($0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count))
      }
    case .handle(let cls, let a, let b, let c): body(shl_handle(cls, a, b, c))
    case .call(let token): body(shl_call_value(token))
    case .constant(let id): body(shl_constant_value(id))
    case .reference(let reference): body(shl_ref_value(reference.raw))
    }
  }
}

extension SHLValue {
  /// The bytes of a string value; empty for others. Valid as long as the value's scope.
  package var bytes: UnsafeRawBufferPointer {
    tag == SHL_STRING ? UnsafeRawBufferPointer(start: s.p, count: s.n) : UnsafeRawBufferPointer(start: nil, count: 0)
  }
}
