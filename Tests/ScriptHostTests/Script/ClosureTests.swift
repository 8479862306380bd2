import CLuaShim
import Foundation
import HookRuntime
import LuaBridge
import LuaKit
import Testing

@testable import ScriptHost

/// What Swift code keeps of a closure that a script made.
private final class Kept<F> {
  var closure: F?
}

/// Non-generic homes, where closures lie in their natural form.
private struct TakesInt { var f: (@escaping (Int) -> Int) -> Void }
private struct TakesText { var f: (@escaping (String) throws -> String) -> Void }
private struct TakesNothing { var f: (@escaping () -> Void) -> Void }

@Suite("Closures made of Lua functions", .serialized)
struct ClosureTests {
  private func patch(_ source: String, _ globals: (Environment, UnsafeMutablePointer<SHLScope>) -> Void) throws -> Environment {
    let bytes = Array(source.utf8)
    let made = try Environment(id: "closures.lua", fileName: "closures.lua", log: HostLog(recorder: nil, isVerbose: false), globals: PatchAPI.register)
    try made.lua.withScope { globals(made, $0) }
    try made.run(bytes)
    return made
  }

  private func global(_ name: String, _ patch: Environment) throws -> Int64? {
    guard case .int(let value)? = try patch.lua.call(try patch.lua.compile("return \(name)", name: "test")).first else { return nil }
    return value
  }

  /// Makes the closure in `home` a global of the script.
  private func define<Home>(_ name: String, _ home: Home, _ type: Any.Type, _ patch: Environment, _ scope: UnsafeMutablePointer<SHLScope>) {
    withUnsafePointer(to: home) {
      let info = try! TypeResolver.shared.type(of: Metadata(type)).get()
      let bridge = ValueBridge(classes: patch.classes, serial: 0, scope: scope)
      _ = shl_set_global(scope, name, ClosureBridge.lua(UnsafeRawPointer($0), info, bridge))
    }
  }

  private func takesInt(_ kept: Kept<(Int) -> Int>, _ source: String) throws -> Environment {
    try patch(source) { define("take", TakesInt { kept.closure = $0 }, ((@escaping (Int) -> Int) -> Void).self, $0, $1) }
  }

  @Test("a closure outlives its script: the default stands in, and the state ends")
  func unloaded() throws {
    let before = HostClosure.alive
    let kept = Kept<(Int) -> Int>()
    var patch: Environment? = try takesInt(kept, "take(swift.closure(function(n) return n * 2 end, { default = -7 }))")
    #expect(kept.closure?(21) == 42)
    patch?.installation.remove()
    #expect(kept.closure?(21) == -7)
    weak let state = patch?.lua
    patch = nil
    #expect(state == nil)
    #expect(kept.closure?(21) == -7)
    #expect(HostClosure.alive == before + 1)
    kept.closure = nil
    #expect(HostClosure.alive == before)
  }

  @Test("a closure that is replaced runs again when the script that replaced it is gone")
  func fallsBack() throws {
    let kept = Kept<(Int) -> Int>()
    let patch = try patch("take(swift.closure(function(n) return plain(n) + 1 end, { original = plain }))") { patch, scope in
      struct Plain { var f: (Int) -> Int }
      define("plain", Plain { $0 * 10 }, ((Int) -> Int).self, patch, scope)
      define("take", TakesInt { kept.closure = $0 }, ((@escaping (Int) -> Int) -> Void).self, patch, scope)
    }
    #expect(kept.closure?(2) == 21)
    patch.installation.remove()
    #expect(kept.closure?(2) == 20)
  }

  @Test("a throwing closure throws what its script raised")
  func throwing() throws {
    let kept = Kept<(String) throws -> String>()
    let patch = try patch("take(function(s) if s == '' then error('empty') end return s .. s end)") {
      define("take", TakesText { kept.closure = $0 }, ((@escaping (String) throws -> String) -> Void).self, $0, $1)
    }
    let closure = try #require(kept.closure)
    #expect(try closure("ab") == "abab")
    let error = #expect(throws: ScriptError.self) { try closure("") }
    #expect(error?.message == "closures.lua:1: empty")
    patch.installation.remove()
    let late = #expect(throws: ScriptError.self) { try closure("ab") }
    #expect(late?.message == "the script of this closure is not loaded any more")
  }

  @Test("a closure that fails too often stops calling its script")
  func breaks() throws {
    let kept = Kept<(Int) -> Int>()
    let patch = try takesInt(kept, "calls = 0; take(swift.closure(function(n) calls = calls + 1; error('no') end, { default = 5 }))")
    for _ in 0..<20 { #expect(kept.closure?(1) == 5) }
    #expect(try global("calls", patch) == 5)
  }

  @Test("a function that cannot fail into anything is refused, with what to do")
  func refused() throws {
    let kept = Kept<(Int) -> Int>()
    let error = #expect(throws: PatchError.self) { _ = try takesInt(kept, "take(function(n) return n end)") }
    #expect(error?.description.hasSuffix(
      "a Lua function can fail, and '(Swift.Int) -> Swift.Int' must return a value; say which: swift.closure(f, { default = … })") == true)
    #expect(kept.closure == nil)
  }

  @Test("ten thousand closures end with their last copy")
  func ends() throws {
    let before = HostClosure.alive
    let kept = Kept<() -> Void>()
    _ = try patch("for i = 1, 10000 do take(function() return i end) end") {
      define("take", TakesNothing { kept.closure = $0; $0() }, ((@escaping () -> Void) -> Void).self, $0, $1)
    }
    kept.closure = nil
    #expect(HostClosure.alive == before)
  }

  @Test("four threads call one closure at once; every call counts")
  func threads() throws {
    let kept = Kept<(Int) -> Int>()
    let patch = try takesInt(kept, "sum = 0; take(swift.closure(function(n) sum = sum + n return sum end, { default = -1 }))")
    // The closure's own state is behind the script's lock.
    nonisolated(unsafe) let closure = try #require(kept.closure)
    DispatchQueue.concurrentPerform(iterations: 4) { _ in for _ in 0..<2000 { _ = closure(1) } }
    #expect(try global("sum", patch) == 8000)
  }
}
