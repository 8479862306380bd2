// StoreAPI — store:get, set, incr, update: what a patch keeps across reloads.
internal import CLuaShim
internal import HookRuntime
internal import LuaBridge

enum StoreAPI {
  static let functions: [(String, SHLFunction)] = [("store.get", get), ("store.set", set), ("store.incr", increment), ("store.update", update)]

  /// Arguments behind the receiver, which `store:get` passes and `store.get` does not.
  private static func first(_ callback: LuaCallback) -> Int { callback[0].tag == SHL_TABLE ? 1 : 0 }

  private static func key(_ callback: LuaCallback) -> String? { callback.text(first(callback)).flatMap { $0.utf8.count <= 256 ? $0 : nil } }
  private static let keyProblem = "a key of the store is a text of at most 256 bytes"

  /// `{ ttl = seconds }`; nil where there is none.
  private static func life(_ options: SHLValue, _ callback: LuaCallback) -> Result<UInt64?, StatementProblem> {
    guard options.tag != SHL_NIL else { return .success(nil) }
    var seconds: Double?
    var isWrong = options.tag != SHL_TABLE
    if !isWrong {
      callback.forEach(in: options) { key, value in
        if key.text == "ttl", value.tag == SHL_INT {
          seconds = Double(value.i)
        } else if key.text == "ttl", value.tag == SHL_NUMBER {
          seconds = value.n
        } else {
          isWrong = true
        }
        return !isWrong
      }
    }
    guard !isWrong, let seconds, seconds > 0, seconds <= 1e9 else {
      return .failure(.init(text: "the only option here is { ttl = seconds }, more than 0"))
    }
    return .success(UInt64(seconds * 1e9))
  }

  private static func value(_ value: SHLValue) -> Result<PatchStore.Value?, StatementProblem> {
    switch value.tag {
    case SHL_NIL: .success(nil)
    case SHL_BOOL: .success(.bool(value.b))
    case SHL_INT: .success(.int(value.i))
    case SHL_NUMBER: .success(.number(value.n))
    case SHL_STRING: .success(.text(Array(UnsafeRawBufferPointer(start: value.s.p, count: value.s.n))))
    default: .failure(.init(text: "the store keeps texts, numbers and booleans, got \(ValueBridge.describe(value))"))
    }
  }

  private static func answer(_ value: PatchStore.Value?, _ callback: LuaCallback) -> Int32 {
    switch value {
    case nil: callback.done(shl_nil())
    case .bool(let value)?: callback.done(shl_bool(value))
    case .int(let number)?: callback.done(shl_int(number))
    case .number(let number)?: callback.done(shl_number(number))
    case .text(let bytes)?:
      bytes.withUnsafeBytes { callback.done(shl_string($0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count)) }
    }
  }

  private static func sentence(_ problem: PatchStore.Problem, _ key: String) -> String {
    switch problem {
    case .full: "the store is full: at most \(PatchStore.mostKeys) keys and \(PatchStore.mostBytes >> 20) MiB; give values a ttl"
    case .noInteger: "the store has no integer at '\(key)'"
    case .overflow: "the number at '\(key)' would leave 64 bits"
    }
  }

  // MARK: Functions

  private static let get: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let key = key(callback) else { return callback.fail("'store:get': \(keyProblem)") }
      var version: UInt64 = 0
      return answer(PatchStore.of(patch.id).get(key, version: &version), callback)
    }
  }

  private static let set: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let key = key(callback) else { return callback.fail("'store:set': \(keyProblem)") }
      do throws(StatementProblem) {
        let made = try value(callback[first(callback) + 1]).get()
        let life = try life(callback[first(callback) + 2], callback).get()
        do throws(PatchStore.Problem) { _ = try PatchStore.of(patch.id).set(key, made, life: life) } catch {
          return callback.fail("'store:set': \(sentence(error, key))")
        }
        return callback.done()
      } catch { return callback.fail("'store:set': \(error.text)") }
    }
  }

  private static let increment: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard let key = key(callback) else { return callback.fail("'store:incr': \(keyProblem)") }
      let by = callback[first(callback) + 1]
      guard by.tag == SHL_NIL || by.tag == SHL_INT else { return callback.fail("'store:incr' adds an integer, got \(ValueBridge.describe(by))") }
      do throws(StatementProblem) {
        let life = try life(callback[first(callback) + 2], callback).get()
        do throws(PatchStore.Problem) {
          return callback.done(shl_int(try PatchStore.of(patch.id).add(by.tag == SHL_NIL ? 1 : by.i, to: key, life: life)))
        } catch { return callback.fail("'store:incr': \(sentence(error, key))") }
      } catch { return callback.fail("'store:incr': \(error.text)") }
    }
  }

  /// How often `update` asks its function anew when somebody else changed the key meanwhile.
  private static let mostTries = 16

  /// `store:update("k", function(old) return new end)`: the function may run again, when another thread changed the key meanwhile.
  private static let update: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      let at = first(callback)
      guard let key = key(callback) else { return callback.fail("'store:update': \(keyProblem)") }
      let function = callback[at + 1]
      guard function.tag == SHL_FUNCTION else {
        return callback.fail("'store:update' takes a key and a function, got \(ValueBridge.describe(function))")
      }
      let store = PatchStore.of(patch.id)
      let life: UInt64?
      switch StoreAPI.life(callback[at + 2], callback) {
      case .success(let found): life = found
      case .failure(let problem): return callback.fail("'store:update': \(problem.text)")
      }
      for _ in 0..<mostTries {
        var version: UInt64 = 0
        let old = store.get(key, version: &version)
        let mark = shl_mark(callback.scope)
        defer { shl_drop(callback.scope, mark) }
        var result = SHLValue()
        var count: Int32 = 0
        var error: UnsafeMutablePointer<SHLError>?
        let status = withLua(old) { old in withUnsafePointer(to: old) { shl_call(callback.scope, function, $0, 1, &result, 1, &count, &error) } }
        guard status == SHL_OK else {
          defer { if let error { shl_error_free(patch.state, error) } }
          let text = error.map {
            withUnsafePointer(to: &$0.pointee.message) { String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self)) }
          }
          return callback.fail(text ?? String(cString: shl_status_text(status)))
        }
        switch value(count == 0 ? shl_nil() : result) {
        case .failure(let problem): return callback.fail("'store:update': \(problem.text)")
        case .success(let new):
          do throws(PatchStore.Problem) {
            if try store.set(key, new, life: life, ifVersion: version) { return answer(new, callback) }
          } catch { return callback.fail("'store:update': \(sentence(error, key))") }
        }
      }
      return callback.fail("'store:update': '\(key)' was changed by others \(mostTries) times meanwhile")
    }
  }

  private static func withLua<R>(_ value: PatchStore.Value?, _ body: (SHLValue) -> R) -> R {
    switch value {
    case nil: body(shl_nil())
    case .bool(let value)?: body(shl_bool(value))
    case .int(let number)?: body(shl_int(number))
    case .number(let number)?: body(shl_number(number))
    case .text(let bytes)?: bytes.withUnsafeBytes { body(shl_string($0.baseAddress?.assumingMemoryBound(to: CChar.self), $0.count)) }
    }
  }
}
