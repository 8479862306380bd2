// World — the real side of the model test: objects, hooks of the engine, and calls.
import CHookTrampoline
import EngineSubjects
import HookRuntime

/// One thread uses it.
final class World: @unchecked Sendable {
  // Only the thread that runs the test touches it, its handlers included.
  private(set) var objects: [Shape] = []
  private var tokens: [Int: HookToken] = [:]
  private var budget = Budget()

  func add(_ type: Class, tag: Int, at place: Int) {
    let object: Shape =
      switch type {
      case .shape: Shape(tag: tag)
      case .square: Square(tag: tag)
      case .smallSquare: SmallSquare(tag: tag)
      case .circle: Circle(tag: tag)
      case .dot: Dot(tag: tag)
      }
    if place == objects.count { objects.append(object) } else { objects[place] = object }
  }

  private static func type(_ type: Class) -> Any.Type {
    switch type {
    case .shape: Shape.self
    case .square: Square.self
    case .smallSquare: SmallSquare.self
    case .circle: Circle.self
    case .dot: Dot.self
    }
  }

  // MARK: Hooks

  /// Installs the hooks together; answers the refusals.
  func install(_ hooks: [ModelHook], object: (Int) -> Int) throws -> [HookRefusal] {
    var all: [HookRequest] = []
    for hook in hooks {
      let scope: HookScope =
        switch hook.scope {
        case .type: .type
        case .subclass(let type): .subclass(Self.type(type))
        case .object(let number): .object(objects[object(number)])
        }
      let found = try requests(hook.method.selector, Wish(scope: scope))
      guard found.count == 1 else { throw Refused("\(hook.method.selector) has \(found.count) families") }
      all += found
    }
    var next = 0
    let report = engine.install(all, atomically: true) { _ in
      let hook = hooks[next]
      next += 1
      return spec(
        Wish(position: hook.position, priority: hook.priority, isOnce: hook.isOnce, owner: hook.owner, group: hook.group)
      ) { [unowned self] call in handle(hook, call) }
    }
    for (hook, token) in zip(hooks, report.tokens) { tokens[hook.number] = token.token }
    return report.refused.map(\.reason)
  }

  func remove(_ number: Int) -> Bool { tokens[number].map { engine.remove($0) } ?? false }
  func enable(_ number: Int, _ isEnabled: Bool) -> Bool { tokens[number].map { engine.setEnabled(isEnabled, $0) } ?? false }

  /// The numbers of the hooks that the engine lists.
  var live: [Int] {
    let listed = Set(engine.list().map(\.token))
    return tokens.filter { listed.contains($0.value) }.map(\.key).sorted()
  }
  func forget(_ numbers: Set<Int>) { tokens = tokens.filter { !numbers.contains($0.key) } }

  // MARK: Calls

  func run(_ method: Method, at place: Int, _ argument: Int) -> (result: Int, log: [String]) {
    budget = Budget()
    _ = Log.take()
    let result = call(method, at: place, argument)
    return (result, Log.take().split(separator: " ").map(String.init))
  }

  private func call(_ method: Method, at place: Int, _ argument: Int) -> Int {
    let object = objects[place]
    switch method {
    case .shapeArea: return area(object, argument)
    case .shapeScale: return scale(object, argument)
    case .fixed: return fixed(object, argument)
    case .down: return object.down(argument)
    case .halve: return object.halve(argument)
    case .setSide:
      object.side = argument
      return 0
    case .kind: return Swift.type(of: object).kind(argument)
    case .count: return Shape.count(argument)
    case .grown: return Size(width: 1).grown(argument)
    case .free: return free(argument)
    case .squareArea, .dotScale: fatalError("called as what they override")
    }
  }

  private func handle(_ hook: ModelHook, _ call: Call) {
    Log.note("<\(hook.number)|\(call.argument)")
    for action in hook.actions {
      switch action {
      case .addToArgument(let n): call.argument += n
      case .addToResult(let n): call.result += n
      case .setResult(let n): call.result = n
      case .proceed: call.proceed()
      case .call(let place, let argument):
        guard budget.enter() else { continue }
        Log.note("=\(self.call(hook.method.called, at: place, argument))")
        budget.leave()
      case .remove(let number): Log.note("-\(remove(number))")
      case .enable(let number, let isEnabled): Log.note("~\(enable(number, isEnabled))")
      }
    }
    Log.note(">\(hook.number)|\(hook.position == .before || !hook.method.hasResult ? 0 : call.result)")
  }
}
