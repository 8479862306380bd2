// ModelHook — a hook and what its handler does, the same for the model and for the real one.
import HookRuntime

/// The selectors of the model's world.
enum Method: Int, CaseIterable {
  case shapeArea, squareArea, shapeScale, dotScale, fixed, down, halve, setSide, kind, count, grown, free

  var selector: String {
    switch self {
    case .shapeArea: "EngineSubjects.Shape.area(_:)"
    case .squareArea: "EngineSubjects.Square.area(_:)"
    case .shapeScale: "EngineSubjects.Shape.scale(_:)"
    case .dotScale: "EngineSubjects.Dot.scale(_:)"
    case .fixed: "EngineSubjects.Shape.fixed(_:)"
    case .down: "EngineSubjects.Shape.down(_:)"
    case .halve: "EngineSubjects.Shape.halve(_:)"
    case .setSide: "EngineSubjects.Shape.side.set"
    case .kind: "static EngineSubjects.Shape.kind(_:)"
    case .count: "static EngineSubjects.Shape.count(_:)"
    case .grown: "EngineSubjects.Size.grown(_:)"
    case .free: "EngineSubjects.free(_:)"
    }
  }

  /// The class that declares it; nil where there is none, or calls are not on objects.
  var owner: Class? {
    switch self {
    case .shapeArea, .shapeScale, .fixed, .down, .halve, .setSide: .shape
    case .squareArea: .square
    case .dotScale: .dot
    case .kind, .count, .grown, .free: nil
    }
  }
  /// It leaves something in the result register.
  var hasResult: Bool { self != .setSide }
}

/// The classes of the model's world.
enum Class: Int, CaseIterable {
  case shape, square, smallSquare, circle, dot

  var parent: Class? {
    switch self {
    case .shape: nil
    case .square, .circle: .shape
    case .smallSquare: .square
    case .dot: .circle
    }
  }
  func inherits(_ other: Class) -> Bool { self == other || parent?.inherits(other) ?? false }

  /// What instances run when somebody calls the method of `Shape`.
  func implementation(_ method: Method) -> Method {
    switch method {
    case .shapeArea: inherits(.square) ? .squareArea : .shapeArea
    case .shapeScale: self == .dot ? .dotScale : .shapeScale
    default: method
    }
  }
  /// Instances run this very function when it is called virtually.
  func runs(_ method: Method) -> Bool {
    guard let owner = method.owner, inherits(owner) else { return false }
    switch method {
    case .shapeArea: return !inherits(.square)
    case .shapeScale: return self != .dot
    default: return true
    }
  }
}

enum ModelScope: Equatable {
  case type
  case subclass(Class)
  /// By its number, which is never used again.
  case object(Int)
}

/// What a handler does, in order.
enum Action {
  case addToArgument(Int)
  case addToResult(Int)
  case setResult(Int)
  case proceed
  /// Calls the method it handles, on an object of the world.
  case call(place: Int, argument: Int)
  case remove(hook: Int)
  case enable(hook: Int, Bool)
}

struct ModelHook {
  let number: Int
  let method: Method
  let position: Position
  let scope: ModelScope
  let priority: Int
  let isOnce: Bool
  let owner: String
  let group: String?
  let actions: [Action]
  var isEnabled = true
  var isSpent = false
  /// Spent, and the call is over that it was spent on.
  var isGone = false

  /// Outside of `other`.
  func encloses(_ other: ModelHook) -> Bool {
    if isForObject != other.isForObject { return isForObject }
    return (priority, number) > (other.priority, other.number)
  }
  var isForObject: Bool { if case .object = scope { true } else { false } }
}

/// What bounds the calls that handlers make themselves, the same in the model and the real world.
struct Budget {
  private var depth = 0
  private var left = 60
  mutating func enter() -> Bool {
    if depth >= 4 || left == 0 { return false }
    depth += 1
    left -= 1
    return true
  }
  mutating func leave() { depth -= 1 }
}
