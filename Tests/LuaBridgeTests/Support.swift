// What the tests of the Lua side share.

import CLuaShim
import CStockLua
import Glibc
import LuaBridge
import Synchronization
import Testing

/// How much slower than usual this run may be: 1, or what SCRIPTHOST_TEST_SLOWNESS says (sanitizers: 10).
let slowness: Double = getenv("SCRIPTHOST_TEST_SLOWNESS").flatMap { Double(String(cString: $0)) } ?? 1

/// Collects what scripts print.
final class Output: Sendable {
  private let lines = Mutex<[String]>([])
  func add(_ line: String) { lines.withLock { $0.append(line) } }
  var text: String { lines.withLock { $0.joined(separator: "\n") } }
}

extension LuaState {
  /// A state for tests; a short deadline keeps hostile scripts cheap.
  static func forTest(
    ms: Int64 = 50, loadMS: Int64 = 50, memory: Int = 16 << 20, instructions: Int64 = 0
  ) throws -> LuaState {
    var limits = SHLLimits()
    limits.memory = memory
    limits.call_ns = ms * 1_000_000 * Int64(slowness)
    limits.load_ns = loadMS * 1_000_000 * Int64(slowness)
    limits.call_instructions = instructions
    return try LuaState(limits: limits)
  }

  /// Runs a chunk and answers what it printed, or the error's message.
  func run(_ source: String, name: String = "test") -> String {
    let output = Output()
    setPrint { text, _, _ in output.add(text) }
    defer { setPrint { _, _, _ in } }
    do {
      try load(source, name: name)
      return output.text
    } catch {
      return (output.text.isEmpty ? "" : output.text + "\n") + "error: " + error.message
    }
  }

  /// How running a chunk failed; nil when it did not.
  func failure(of source: String) -> LuaFailure? {
    do throws(LuaFailure) {
      try load(source, name: "attack.lua")
      return nil
    } catch { return error }
  }

  /// What a chunk answers.
  func answers(_ source: String) throws -> [LuaValue] { try call(try compile(source, name: "test")) }

  /// The function that `return`ing chunk answers.
  func function(_ source: String) throws -> LuaReference {
    let answer = try call(try compile("return " + source, name: "test"))
    guard case .reference(let reference)? = answer.first else {
      throw LuaFailure(.badArgument, "'\(source)' is no function")
    }
    return reference
  }
}

extension LuaState {
  /// Calls a function with the `call` of a host object, which is over when the function returns.
  func call(_ function: LuaReference, callOf host: UnsafeMutableRawPointer) -> [LuaValue] {
    var here = shl_call_here(host)
    var results = [SHLValue](repeating: SHLValue(), count: 8)
    let invocation = UnsafeMutablePointer<SHLInvocation>.allocate(capacity: 1)
    invocation.initialize(to: SHLInvocation())
    defer { invocation.deallocate() }
    guard shl_invoke(raw, function.raw, &here, 1, &results, 8, nil, invocation) == SHL_OK else { return [] }
    defer { shl_invoke_end(invocation) }
    return results.prefix(Int(invocation.pointee.count)).map { LuaValue($0, in: invocation.scope, of: self) ?? .nil }
  }
}

/// The stock library's answer to the same source.
func stock(_ source: String) -> String {
  var bytes = Array(source.utf8)
  var out = [CChar](repeating: 0, count: 1 << 20)
  let length = bytes.withUnsafeMutableBytes {
    stock_lua_run($0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count, &out, out.count)
  }
  var text = String(decoding: out.prefix(min(length, out.count - 1)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  if text.hasSuffix("\n") { text.removeLast() }
  return text
}

/// CPU time of this thread: what a deadline is measured against where the machine is busy.
func threadMilliseconds() -> Double {
  var t = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t)
  return Double(t.tv_sec) * 1e3 + Double(t.tv_nsec) / 1e6
}

/// Ends the process with the test's name if `body` does not come back: a hang must not look like a slow test.
func guardedAgainstHanging<Result>(_ name: String, seconds: Int = 30, _ body: () throws -> Result) rethrows -> Result {
  let done = Done()
  let thread = Unmanaged.passRetained(Watch(name, seconds, done))
  var id = pthread_t()
  pthread_create(
    &id, nil,
    { context in
      let watch = Unmanaged<Watch>.fromOpaque(context!).takeRetainedValue()
      for _ in 0..<(watch.seconds * 100) {
        if watch.done.isSet { return nil }
        usleep(10_000)
      }
      let text = "hang: '\(watch.name)' did not end in \(watch.seconds) s\n"
      _ = text.withCString { write(2, $0, strlen($0)) }
      abort()
    }, thread.toOpaque())
  defer {
    done.set()
    pthread_join(id, nil)
  }
  return try body()
}

private final class Done: Sendable {
  private let flag = Atomic(false)
  var isSet: Bool { flag.load(ordering: .acquiring) }
  func set() { flag.store(true, ordering: .releasing) }
}

private final class Watch: Sendable {
  let name: String
  let seconds: Int
  let done: Done
  init(_ name: String, _ seconds: Int, _ done: Done) {
    self.name = name
    self.seconds = seconds
    self.done = done
  }
}

/// Small, seeded, the same everywhere.
struct Random: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed | 1 }
  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state &* 0x2545_F491_4F6C_DD1D
  }
}

/// A string value whose bytes live for ever.
func literal(_ text: StaticString) -> SHLValue {
  shl_string(UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self), text.utf8CodeUnitCount)
}
