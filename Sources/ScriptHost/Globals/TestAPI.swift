// TestAPI — `test "name" (function(t) … end)`: a patch's own tests, which only `scripthost test` runs.
//
// In a program that runs for itself the statement does nothing, so that tests stand in the file they are about. Files of the directory `tests` of a
// patch that is a directory are read for `scripthost test` alone, in the patch's own state.
internal import CHookTrampoline
internal import CLuaShim
internal import LuaBridge
private import Glibc
private import Journal
private import Synchronization

enum TestAPI {
  static let functions: [(String, SHLFunction)] = [("test", test)]

  /// Answers a function that takes the test.
  private static let test: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard callback.count == 1, let name = callback.text(0), !name.isEmpty else {
        return callback.fail("'test' takes a name and a function: test \"name\" (function(t) … end)")
      }
      return TwoPartStatement.answer("test \"\(name)\"", patch, callback) { add(name, $0, $1) }
    }
  }

  private static func add(_ name: String, _ patch: Environment, _ callback: LuaCallback) -> Int32 {
    guard callback[0].tag == SHL_FUNCTION else { return callback.fail("test '\(name)' takes a function, got \(ValueBridge.describe(callback[0]))") }
    guard ScriptTests.areWanted else { return callback.done() }
    var info = SHLFunctionInfo()
    let function = shl_arg_function_ref(callback.raw, 0, &info)
    guard function != 0 else { return callback.fail("out of memory") }
    let caller = callback.caller
    ScriptTests.add(
      ScriptTest(environment: patch, name: name, function: LuaReference(function, in: patch.lua), file: caller.source, line: caller.line))
    return callback.done()
  }
}

/// One test of a patch.
struct ScriptTest: Sendable {
  let environment: Environment
  let name: String
  let function: LuaReference
  /// The chunk it stands in: the patch's own, or `tests/cents.lua`.
  let file: String
  /// Where it is in the file.
  let line: Int
}

/// The tests of the patches that were loaded, in a process that was started for them.
enum ScriptTests {
  private static let list = Mutex<(areWanted: Bool, tests: [ScriptTest])>((false, []))

  static var areWanted: Bool { list.withLock { $0.areWanted } }
  static func want() { list.withLock { $0.areWanted = true } }
  static func add(_ test: ScriptTest) { list.withLock { $0.tests.append(test) } }
  /// A patch was refused: what it said before does not count.
  static func drop(of environment: Environment) { list.withLock { $0.tests.removeAll { $0.environment === environment } } }
  static var all: [ScriptTest] { list.withLock { $0.tests } }

  /// What a test gets as `t`. Failures are reported at the line that asked.
  ///
  /// `failures()` is how many handlers of the patch have failed; `failures(n)` answers the first behind the nth and forgets all of those.
  private static let support = """
    local failures = ...
    local t, stubs = {}, {}
    local function show(value) if type(value) == "string" then return string.format("%q", value) end return tostring(value) end
    -- What pcall answered; an error is raised where the test asked.
    local function passed(level, ok, ...)
      if ok then return ... end
      local problem = ...
      if type(problem) ~= "string" then error(problem, 0) end
      error(problem:gsub("^test:%d+: ", ""), level + 1)
    end
    function t.expect(value, why)
      if not value then error(why or "expected a true value, found " .. show(value), 2) end
      return value
    end
    function t.equal(...)
      local count, found, expected, why = select("#", ...), ...
      if count < 2 then error("'t.equal' takes what was found and what is expected, got " .. (count == 0 and "nothing" or "one value"), 2) end
      if found ~= expected then error((why and why .. ": " or "") .. "expected " .. show(expected) .. ", found " .. show(found), 2) end
      return found
    end
    function t.fails(f, text)
      if type(f) ~= "function" then error("'t.fails' takes a function and a text of the error, got " .. show(f), 2) end
      local before = failures()
      local ok, problem = pcall(f)
      local failure = failures(before)
      if ok then problem = failure end
      if problem == nil then error("expected an error, none was raised, and no handler failed", 2) end
      problem = tostring(problem)
      if text and not problem:find(text, 1, true) then error("expected an error with " .. show(text) .. ", found " .. show(problem), 2) end
      return problem
    end
    function t.hooked(selector)
      for _, hook in ipairs(hooks(selector)) do if hook.enabled ~= false then return true end end
      return false
    end
    function t.call(...) return passed(1, pcall(swift.send, ...)) end
    function t.stub(selector, answer)
      local f = answer
      if type(f) ~= "function" then f = function() return answer end end
      local hook = passed(2, pcall(function() return method(selector):around(f, { priority = -1000000 }) end))
      stubs[#stubs + 1] = hook
      return hook
    end
    local function run(test)
      local ok, problem = pcall(test, t)
      if ok then return end
      if type(problem) == "string" then error(problem, 0) end
      error("an error was not caught: " .. tostring(problem), 0)
    end
    local function done() for i = #stubs, 1, -1 do stubs[i]:remove() stubs[i] = nil end end
    return run, done
    """

  /// A test ended.
  struct Outcome {
    let test: ScriptTest
    /// Nil: it passed. File and line, where they are known, and why not.
    let failure: String?
    let nanoseconds: UInt64
  }

  /// Runs one test on this thread, as the program runs: its calls are hooked. A handler of the patch that fails meanwhile fails the test.
  static func run(_ test: ScriptTest) -> Outcome {
    let start = now()
    TestThread.begin()
    defer { TestThread.end() }
    test.environment.heardFailures.withLock { $0 = [] }
    let failure = problem(of: test)
    let handlers = test.environment.heardFailures.withLock { heard in
      defer { heard = nil }
      return heard ?? []
    }
    return Outcome(test: test, failure: failure ?? handlers.first, nanoseconds: now() &- start)
  }

  /// The error that a test ends with.
  private static func problem(of test: ScriptTest) -> String? {
    let lua = test.environment.lua
    var failure: LuaFailure?
    do throws(LuaFailure) {
      let made = try lua.call(try lua.compile(support, name: "test"), [.reference(try failures(test.environment))])
      guard made.count == 2, case .reference(let run) = made[0], case .reference(let done) = made[1] else {
        throw LuaFailure(.badArgument, "the tests' own script answers \(made.count) values")
      }
      do throws(LuaFailure) {
        _ = try lua.call(run, [.reference(test.function)], budget: SHLBudget(instructions: 200_000_000, wall_ns: -1, lock_ns: 0))
      } catch {
        failure = error
      }
      _ = try lua.call(done)
    } catch { failure = failure ?? error }
    return failure?.message
  }

  /// The function `failures` of the support.
  private static func failures(_ environment: Environment) throws(LuaFailure) -> LuaReference {
    let context = Unmanaged.passUnretained(environment).toOpaque()
    let made = try environment.lua.withScope { scope in shl_keep(scope, shl_function(scope, takeFailures, context)) }
    guard made != 0 else { throw LuaFailure(.noMemory, "out of memory") }
    return LuaReference(made, in: environment.lua)
  }

  private static let takeFailures: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard callback[0].tag == SHL_INT else { return callback.done(shl_int(Int64(patch.heardFailures.withLock { $0?.count ?? 0 }))) }
      let first = patch.heardFailures.withLock { heard -> String? in
        guard let all = heard, all.indices.contains(Int(callback[0].i)) else { return nil }
        heard = Array(all.prefix(Int(callback[0].i)))
        return all[Int(callback[0].i)]
      }
      return first.map { callback.done($0) } ?? callback.done(shl_nil())
    }
  }

  private static func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}

extension Environment {
  /// Runs the files of the patch's directory `tests`, by name; they see its globals, and `require` its modules.
  /// - Throws: `.failed` with the position.
  func runTests() throws(PatchError) {
    guard let directory else { return }
    for path in PatchFiles.tests(in: directory) {
      try run(try PatchSource.bytes(of: path), name: PatchFiles.testsFolder + "/" + String(decoding: path.lastComponent, as: UTF8.self))
    }
  }
}

extension BootTask {
  /// `scripthost test`: before the patches are loaded.
  static let wantTests = BootTask("want tests", .scripts, priority: 100) { context in
    if context.settings.has(.test) || context.settings.text(.canaryChild) == CanaryKind.test.rawValue { ScriptTests.want() }
    return .goOn
  }

  /// `scripthost test`: runs the tests of the patches and ends the process with 0 when all passed.
  static let tests = BootTask("tests", .scripts, priority: -100) { context in
    guard context.settings.has(.test), let thread = hkt_thread() else { return .goOn }
    // As the program runs, not as the host.
    hkt_host_end(thread)
    let isJSON = context.settings.text(.test) == "json"
    var failed = 0
    let tests = ScriptTests.all
    for test in tests {
      let outcome = ScriptTests.run(test)
      if outcome.failure != nil { failed += 1 }
      write(isJSON ? TestText.json(outcome) : TestText.line(outcome))
    }
    if !isJSON { write("\(tests.count) test\(tests.count == 1 ? "" : "s"), \(failed) failed\n") }
    let isRefused = context.patches?.list.contains { $0.state != .loaded } ?? false
    _exit(failed > 0 || isRefused ? 1 : tests.isEmpty ? 2 : 0)
  }

  private static func write(_ text: String) {
    var text = text
    text.withUTF8 { bytes in
      var done = 0
      while done < bytes.count {
        let count = Glibc.write(STDOUT_FILENO, bytes.baseAddress! + done, bytes.count - done)
        if count < 0, errno == EINTR { continue }
        if count <= 0 { return }
        done += count
      }
    }
  }
}
