// NamedFunctions — functions and fields under the names that scripts use, as states of Lua refer to them.
internal import CLuaShim
private import Glibc

/// Any thread: its memory is never freed and never changed.
struct NamedFunctions: @unchecked Sendable {
  let list: UnsafeBufferPointer<SHLNamed>

  /// - Parameter fields: of handles: names with the numbers by which their index functions know them.
  init(_ functions: [(String, SHLFunction)], fields: [(String, Int32)] = []) {
    let named =
      functions.map { SHLNamed(name: strdup($0.0), fn: $0.1, id: -1) } + fields.map { SHLNamed(name: strdup($0.0), fn: nil, id: $0.1) }
    let memory = UnsafeMutableBufferPointer<SHLNamed>.allocate(capacity: named.count)
    _ = memory.initialize(from: named)
    list = UnsafeBufferPointer(memory)
  }
}
