// What the cases share: hooks written as closures over raw calls.
import CHookTrampoline
import EngineSubjects
import Glibc
import HookRuntime

let engine = HookEngine.shared

/// What a handler is given.
struct Call {
  let raw: UnsafeMutablePointer<HKTCall>
  let phase: HKTPhase
  func proceed() { hkt_call_proceed(raw) }
  /// The first integer argument.
  var argument: Int {
    get { Int(bitPattern: UInt(raw.pointee.frame.pointee.integer.0)) }
    nonmutating set { raw.pointee.frame.pointee.integer.0 = UInt64(UInt(bitPattern: newValue)) }
  }
  /// The integer result.
  var result: Int {
    get { Int(bitPattern: UInt(raw.pointee.frame.pointee.results.integer.0)) }
    nonmutating set { raw.pointee.frame.pointee.results.integer.0 = UInt64(UInt(bitPattern: newValue)) }
  }
  /// The word in the self register.
  var object: UInt { UInt(raw.pointee.frame.pointee.self_register) }
}

final class Body: @unchecked Sendable {
  // Set once, before the hook is installed.
  let run: (Call) -> Void
  let onRelease: (() -> Void)?
  init(_ run: @escaping (Call) -> Void, onRelease: (() -> Void)? = nil) {
    self.run = run
    self.onRelease = onRelease
  }
  deinit { onRelease?() }

  static let layer: HKTLayerFunction = { call, context, phase in
    // The context is retained for the layer.
    Unmanaged<Body>.fromOpaque(context!)._withUnsafeGuaranteedRef { $0.run(Call(raw: call!, phase: phase)) }
    return HKT_HANDLED
  }
}

enum Position {
  case before, around, after
  var phases: UInt32 {
    switch self {
    case .before: UInt32(HKT_ON_ENTER)
    case .around: UInt32(HKT_ON_AROUND)
    case .after: UInt32(HKT_ON_EXIT)
    }
  }
}

/// What a hook asks for beside its selector.
struct Wish {
  var position = Position.before
  var scope = HookScope.type
  var priority = 0
  var isOnce = false
  var owner = "cases"
  var group: String?
  var backEnd: BackEnd?
  var onRelease: (() -> Void)?
}

struct Refused: Error, CustomStringConvertible {
  let description: String
  let reason: HookRefusal?
  init(_ description: String, _ reason: HookRefusal? = nil) {
    self.description = description
    self.reason = reason
  }
}

func requests(_ selector: String, _ wish: Wish) throws -> [HookRequest] {
  switch SelectorLookup.resolve(selector) {
  case .success(let found): return found.map { HookRequest(image: $0, family: $1, scope: wish.scope, backEnd: wish.backEnd) }
  case .failure(let problem): throw Refused(problem.description)
  }
}

func spec(_ wish: Wish, _ run: @escaping (Call) -> Void) -> LayerSpec {
  LayerSpec(
    function: Body.layer, context: Unmanaged.passRetained(Body(run, onRelease: wish.onRelease)).toOpaque(), phases: wish.position.phases,
    priority: wish.priority, isHostWork: false, readsValues: false, owner: wish.owner, group: wish.group, isOnce: wish.isOnce
  ) { Unmanaged<Body>.fromOpaque($0!).release() }
}

/// Installs on one selector, which must be possible.
@discardableResult
func hook(_ selector: String, _ wish: Wish, _ run: @escaping (Call) -> Void) throws -> HookToken {
  let report = engine.install(try requests(selector, wish)) { _ in spec(wish, run) }
  if let (name, reason) = report.refused.first { throw Refused("\(name): \(reason)", reason) }
  return report.tokens[0].token
}

@discardableResult
func note(_ mark: String, _ selector: String, _ wish: Wish = Wish()) throws -> HookToken {
  // The handler must not keep the object of the wish.
  let isAround = wish.position == .around
  return try hook(selector, wish) { call in
    if isAround {
      Log.note("(" + mark)
      call.proceed()
      Log.note(mark + ")")
    } else {
      Log.note(mark)
    }
  }
}

func on(_ object: AnyObject, _ position: Position = .before, priority: Int = 0) -> Wish {
  Wish(position: position, scope: .object(object), priority: priority)
}
func subclasses(_ type: Any.Type, _ position: Position = .before, priority: Int = 0) -> Wish {
  Wish(position: position, scope: .subclass(type), priority: priority)
}

/// The code of the refusal that `body` ends in; "none" when it does not.
func refusal(_ body: () throws -> Void) -> String {
  do { try body() } catch { return (error as? Refused)?.reason?.code ?? "\(error)" }
  return "none"
}
func sentence(_ body: () throws -> Void) -> String {
  do { try body() } catch { return "\(error)" }
  return "none"
}

/// A thread that is joined.
final class Thread {
  private var handle = pthread_t()
  init(_ body: @escaping () -> Void) {
    let box = Unmanaged.passRetained(Box(body)).toOpaque()
    pthread_create(
      &handle, nil,
      {
        Unmanaged<Box>.fromOpaque($0!).takeRetainedValue().body()
        return nil
      }, box)
  }
  func join() { pthread_join(handle, nil) }
  private final class Box {
    let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
  }
}
