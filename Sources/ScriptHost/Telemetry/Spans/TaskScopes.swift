// TaskScopes — the scope of an async call, as a task-local value of its task.
//
// A value is pushed when the call begins and popped when it is over. Both are in the order that the task's allocator asks for: the
// callee's own allocations lie between them. Values are references to a class of ours, so that inheriting one retains it.
internal import CHookTrampoline
private import Glibc

enum TaskScopes {
  // As swift/stdlib/public/Concurrency has them; the Swift convention passes three words as C's does.
  private typealias Push = @convention(c) (UnsafeRawPointer, UnsafeMutableRawPointer, UnsafeRawPointer) -> Void
  private typealias Get = @convention(c) (UnsafeRawPointer) -> UnsafeRawPointer?
  private typealias Pop = @convention(c) () -> Void

  private struct Runtime: @unchecked Sendable {
    // A word that is an address alone, and functions.
    let key = UnsafeRawPointer(UnsafeMutableRawPointer.allocate(byteCount: 16, alignment: 16))
    let push: Push
    let get: Get
    let pop: Pop

    init?() {
      // Loaded with the library that made the task which is running.
      guard let push = dlsym(nil, "swift_task_localValuePush"), let get = dlsym(nil, "swift_task_localValueGet"),
        let pop = dlsym(nil, "swift_task_localValuePop")
      else { return nil }
      // The types are those of the functions' declarations.
      self.push = unsafeBitCast(push, to: Push.self)
      self.get = unsafeBitCast(get, to: Get.self)
      self.pop = unsafeBitCast(pop, to: Pop.self)
    }
  }
  /// First asked for while a task runs.
  private static let runtime = Runtime()

  /// The innermost scope of the task that runs on this thread; not owned.
  static func top() -> Unmanaged<TraceScope>? {
    guard let runtime, let place = runtime.get(runtime.key) else { return nil }
    // What is pushed under the key is a reference to a scope.
    return Unmanaged<TraceScope>.fromOpaque(place.load(as: UnsafeRawPointer.self))
  }

  /// Puts the rest of the running task's call into the scope; false when it cannot.
  static func push(_ scope: TraceScope) -> Bool {
    guard let runtime else { return false }
    // Taken over with its reference.
    var word = Unmanaged.passRetained(scope).toOpaque()
    // A metatype of a class is a pointer to its metadata.
    withUnsafeMutablePointer(to: &word) {
      runtime.push(runtime.key, UnsafeMutableRawPointer($0), unsafeBitCast(TraceScope.self as Any.Type, to: UnsafeRawPointer.self))
    }
    return true
  }

  static func pop() { runtime?.pop() }
}

/// Scopes of calls of either kind.
enum Scopes {
  /// The scope that the call is in; not owned.
  static func current(
    _ call: UnsafeMutablePointer<HKTCall>, _ thread: UnsafeMutablePointer<ScriptThread>, layer: UnsafeRawPointer? = nil
  ) -> Unmanaged<TraceScope>? {
    let task = hkt_async_task()
    return thread.pointee.scopes.top(of: call, task: task, layer: layer) ?? (task == 0 ? nil : TaskScopes.top())
  }

  /// Puts what runs below the call into the scope, until `end`.
  static func begin(
    _ scope: TraceScope, _ call: UnsafeMutablePointer<HKTCall>, _ layer: UnsafeRawPointer, _ thread: UnsafeMutablePointer<ScriptThread>
  ) {
    guard call.pointee.is_async != 0 else {
      _ = thread.pointee.scopes.push(call, layer, task: hkt_async_task(), scope)
      return
    }
    guard TaskScopes.push(scope) else { return }
    hkt_async_layer(call).pointee.state = Unmanaged.passRetained(scope).toOpaque()
  }

  /// Ends what `begin` began; the scope, owned by the caller, or nil when there was none.
  static func end(
    _ call: UnsafeMutablePointer<HKTCall>, _ layer: UnsafeRawPointer, _ thread: UnsafeMutablePointer<ScriptThread>
  ) -> Unmanaged<TraceScope>? {
    guard call.pointee.is_async != 0 else { return thread.pointee.scopes.pop(call, layer) }
    guard let state = hkt_async_layer(call).pointee.state else { return nil }
    hkt_async_layer(call).pointee.state = nil
    TaskScopes.pop()
    return Unmanaged<TraceScope>.fromOpaque(state)
  }
}
