// LuaState — one sandboxed Lua state: a patch's own world.
//
// Threads: every method may be called from any thread. Entering takes the state's own lock, waits at most
// `limits.lock_ns` and then fails with `.busy`. While a function of the program runs from Lua the lock is held
// unless that function gives it back (`LuaCallback.unlocked`), so such functions are short or do so.
//
// Lua errors never pass through Swift frames: the C shim catches them on the way in and raises them itself, after
// Swift has returned, on the way out.

internal import Glibc
internal import Synchronization
package import CLuaShim

package final class LuaState: Sendable {
  /// The shim's state. Valid as long as this object.
  ///
  /// Never written after `init`; the shim does its own locking.
  package nonisolated(unsafe) let raw: OpaquePointer

  /// Closures given to Lua; they live as long as the state, since Lua may keep functions.
  private let keptAlive = Mutex<[AnyObject & Sendable]>([])

  /// Opens a state. Fails with `.noLibrary` when Lua 5.4 is not installed, with `.noMemory`.
  package init(limits: SHLLimits = SHLLimits()) throws(LuaFailure) {
    if let why = shl_library_open(nil) { throw LuaFailure(.noLibrary, String(cString: why)) }
    var limits = limits
    var why: UnsafePointer<CChar>?
    guard let state = shl_open(&limits, &why) else {
      throw LuaFailure(.noMemory, why.map { String(cString: $0) } ?? "no Lua state")
    }
    raw = state
  }

  /// References keep the state alive, so nobody can be inside or come back.
  deinit { shl_close(raw) }

  // MARK: - Loading

  /// Compiles and runs a main chunk under the load budget. `name` is shown in positions: "hello.lua".
  package func load(
    _ source: UnsafeRawBufferPointer, name: String, budget: SHLBudget? = nil
  ) throws(LuaFailure) {
    var error: UnsafeMutablePointer<SHLError>?
    let status = withBudget(budget) {
      shl_load(raw, name, source.baseAddress?.assumingMemoryBound(to: CChar.self) ?? emptyText, source.count, $0, &error)
    }
    if status != SHL_OK { throw LuaFailure(status, consuming: error, of: raw) }
  }

  package func load(_ source: String, name: String, budget: SHLBudget? = nil) throws(LuaFailure) {
    try withBytes(of: source) { bytes throws(LuaFailure) in try load(bytes, name: name, budget: budget) }
  }

  /// Compiles a chunk without running it.
  package func compile(_ source: String, name: String) throws(LuaFailure) -> LuaReference {
    try withBytes(of: source) { bytes throws(LuaFailure) in
      var error: UnsafeMutablePointer<SHLError>?
      var reference: SHLRef = 0
      let status = shl_compile(
        raw, name, bytes.baseAddress?.assumingMemoryBound(to: CChar.self) ?? emptyText, bytes.count, nil, &reference, &error)
      if status != SHL_OK { throw LuaFailure(status, consuming: error, of: raw) }
      return LuaReference(reference, in: self)
    }
  }

  // MARK: - Calling

  /// The hot path, without allocation: see `shl_invoke`. The caller reads the results and calls `shl_invoke_end`.
  @inline(__always)
  package func invoke(
    _ function: SHLRef, _ arguments: UnsafeBufferPointer<SHLValue>, results: UnsafeMutableBufferPointer<SHLValue>,
    budget: UnsafePointer<SHLBudget>? = nil, invocation: UnsafeMutablePointer<SHLInvocation>
  ) -> SHLStatus {
    shl_invoke(
      raw, function, arguments.baseAddress, Int32(truncatingIfNeeded: arguments.count),
      results.baseAddress, Int32(truncatingIfNeeded: results.count), budget, invocation)
  }

  /// The comfortable way: copies everything. An empty answer means "returned nothing", `[.nil]` "returned nil".
  package func call(
    _ function: LuaReference, _ arguments: [LuaValue] = [], budget: SHLBudget? = nil
  ) throws(LuaFailure) -> [LuaValue] {
    // An invocation must not move between begin and end, so it gets an address of its own.
    let invocation = UnsafeMutablePointer<SHLInvocation>.allocate(capacity: 1)
    let results = UnsafeMutableBufferPointer<SHLValue>.allocate(capacity: 64)
    invocation.initialize(to: SHLInvocation())
    defer {
      results.deallocate()
      invocation.deallocate()
    }
    let status = withRawValues(arguments) { raws in
      withBudget(budget) { invoke(function.raw, raws, results: results, budget: $0, invocation: invocation) }
    }
    if status != SHL_OK { throw LuaFailure(status, consuming: invocation.pointee.error, of: raw) }
    defer { shl_invoke_end(invocation) }
    return results.prefix(Int(min(invocation.pointee.count, 64))).map {
      LuaValue($0, in: invocation.scope, of: self) ?? .nil
    }
  }

  /// Enters the state and calls `body` with a scope to build tables, keep values, call. The lock is held meanwhile.
  package func withScope<Result>(
    budget: SHLBudget? = nil, _ body: (UnsafeMutablePointer<SHLScope>) -> Result
  ) throws(LuaFailure) -> Result {
    let invocation = UnsafeMutablePointer<SHLInvocation>.allocate(capacity: 1)
    invocation.initialize(to: SHLInvocation())
    defer { invocation.deallocate() }
    let status = withBudget(budget) { shl_enter(raw, $0, invocation) }
    if status != SHL_OK { throw LuaFailure(status, consuming: invocation.pointee.error, of: raw) }
    defer { shl_invoke_end(invocation) }
    return body(invocation.scope)
  }

  // MARK: - Facts

  package var statistics: SHLStatistics { shl_statistics(raw) }

  /// Keeps an object until the state ends.
  package func keepAlive(_ object: AnyObject & Sendable) {
    keptAlive.withLock { $0.append(object) }
  }
}

extension UnsafeMutablePointer<SHLInvocation> {
  /// The invocation's scope, its first member.
  package var scope: UnsafeMutablePointer<SHLScope> {
    UnsafeMutableRawPointer(self).assumingMemoryBound(to: SHLScope.self)
  }
}

/// A non-null pointer to no bytes.
private nonisolated(unsafe) let emptyText: UnsafePointer<CChar> = {  // written once, read-only
  let p = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
  p.pointee = 0
  return UnsafePointer(p)
}()

/// Gives `body` the budget's address, nil for none; valid only inside.
private func withBudget<Result>(_ budget: SHLBudget?, _ body: (UnsafePointer<SHLBudget>?) -> Result) -> Result {
  guard var budget else { return body(nil) }
  return body(&budget)
}

/// Gives `body` the text as UTF-8; valid only inside.
private func withBytes<Result>(
  of text: String, _ body: (UnsafeRawBufferPointer) throws(LuaFailure) -> Result
) throws(LuaFailure) -> Result {
  let bytes = ContiguousArray(text.utf8)
  let outcome: Swift.Result<Result, LuaFailure> = bytes.withUnsafeBytes { buffer in
    do throws(LuaFailure) { return .success(try body(buffer)) } catch { return .failure(error) }
  }
  return try outcome.get()
}

/// Lays values out for the shim. Strings point into one copy that lives during `body`.
private func withRawValues<Result>(_ values: [LuaValue], _ body: (UnsafeBufferPointer<SHLValue>) -> Result) -> Result {
  var bytes: [UInt8] = []
  for case .string(let text) in values { bytes += text }
  return bytes.withUnsafeBytes { all in
    var offset = 0
    let raws = values.map { value in
      guard case .string(let text) = value else { return value.withRaw { $0 } }
      defer { offset += text.count }
      return shl_string((all.baseAddress.map { $0 + offset })?.assumingMemoryBound(to: CChar.self), text.count)
    }
    return raws.withUnsafeBufferPointer(body)
  }
}
