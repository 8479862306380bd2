// Model — the order of docs/hooks.md in plain Swift: which handlers a call runs, in what order, with which values.

/// The world as the rules say it is: objects, hooks, calls.
struct Model {
  struct Object {
    let number: Int
    let type: Class
    let tag: Int
  }
  var objects: [Object] = []
  var hooks: [Int: ModelHook] = [:]
  private(set) var log: [String] = []
  private var frames: [Frame] = []
  private var budget = Budget()

  /// A call in progress.
  private struct Frame {
    let method: Method
    let object: Object?
    /// The hooks there were when it began, outermost first.
    let layers: [ModelHook]
    var running: Int?
    var argument: Int
    var result = 0
    /// Hooks that had their one call here: they are there until it ends, and gone then.
    var spent: [Int] = []
  }

  // MARK: Hooks

  mutating func remove(_ number: Int) -> Bool { hooks.removeValue(forKey: number).map { !$0.isSpent } ?? false }

  mutating func enable(_ number: Int, _ isEnabled: Bool) -> Bool {
    guard let hook = hooks[number], !hook.isSpent else { return false }
    hooks[number]!.isEnabled = isEnabled
    return true
  }

  mutating func end(_ object: Object) { hooks = hooks.filter { $0.value.scope != .object(object.number) } }

  var live: [Int] { hooks.values.filter { !$0.isSpent }.map(\.number).sorted() }

  // MARK: Calls

  /// The call of a method of `Shape` (or another function) as somebody outside makes it; what it returns, and what was noted.
  mutating func run(_ method: Method, at place: Int, _ argument: Int) -> (result: Int, log: [String]) {
    log = []
    budget = Budget()
    let result = callVirtually(method, at: place, argument)
    return (method.hasResult ? result : 0, log)
  }

  private mutating func callVirtually(_ method: Method, at place: Int, _ argument: Int) -> Int {
    let object = objects[place]
    switch method {
    case .count, .grown, .free: return call(method, nil, argument, type: .shape)
    case .kind: return call(method, nil, argument, type: object.type)
    default: return call(object.type.implementation(method), object, argument, type: object.type)
    }
  }

  /// Enters the very function.
  private mutating func call(_ method: Method, _ object: Object?, _ argument: Int, type: Class) -> Int {
    let enabled = hooks.values.filter { $0.method == method && $0.isEnabled && !$0.isGone }
    // A call that no hook is near leaves no trace: its handlers' calls are those of the calls around it.
    guard enabled.contains(where: { !$0.isForObject || isMeant($0, object, type) }) else {
      return original(method, object, argument, type)
    }
    let all = enabled.filter { isMeant($0, object, type) }.sorted { $0.encloses($1) }
    frames.append(Frame(method: method, object: object, layers: all, argument: argument))
    let first = start(all)
    run(from: 0, first, type)
    let ended = frames.removeLast()
    for number in ended.spent { hooks[number]?.isGone = true }
    return ended.result
  }

  private func isMeant(_ hook: ModelHook, _ object: Object?, _ type: Class) -> Bool {
    switch hook.scope {
    case .type: true
    case .subclass(let wanted): type.inherits(wanted)
    case .object(let number): object?.number == number
    }
  }

  /// Which layers run: those below the handler that makes the call itself.
  private func start(_ layers: [ModelHook]) -> [Bool] {
    let new = frames.last!
    // The innermost call of the same function: one of its handlers is at work.
    guard let outer = frames.dropLast().last(where: { $0.method == new.method }), let running = outer.running else {
      return layers.map { _ in true }
    }
    // The innermost call on the same object, too.
    let same = frames.dropLast().last { $0.method == new.method && $0.object?.number == new.object?.number }
    return layers.map { layer in
      if layer.isForObject {
        guard let busy = same?.running else { return true }
        return same!.layers[busy].encloses(layer)
      }
      return outer.layers[running].encloses(layer)
    }
  }

  /// Runs layer `index` and those inside it.
  private mutating func run(from index: Int, _ takesPart: [Bool], _ type: Class) {
    let frame = frames.count - 1
    guard index < frames[frame].layers.count else {
      frames[frame].result = original(frames[frame].method, frames[frame].object, frames[frame].argument, type)
      return
    }
    let hook = frames[frame].layers[index]
    guard takesPart[index], isFree(hook) else { return run(from: index + 1, takesPart, type) }
    switch hook.position {
    case .before:
      handle(hook, index, takesPart, type)
      run(from: index + 1, takesPart, type)
    case .around: handle(hook, index, takesPart, type)
    case .after:
      run(from: index + 1, takesPart, type)
      handle(hook, index, takesPart, type)
    }
  }

  /// A hook that runs once is taken by the call that reaches it first.
  private mutating func isFree(_ hook: ModelHook) -> Bool {
    guard hook.isOnce else { return true }
    // What was removed meanwhile still takes part in calls that began before, once.
    if spent.contains(hook.number) { return false }
    spent.insert(hook.number)
    hooks[hook.number]?.isSpent = true
    frames[frames.count - 1].spent.append(hook.number)
    return true
  }
  private var spent: Set<Int> = []

  private mutating func handle(_ hook: ModelHook, _ index: Int, _ takesPart: [Bool], _ type: Class) {
    let frame = frames.count - 1
    let outer = frames[frame].running
    frames[frame].running = index
    log.append("<\(hook.number)|\(frames[frame].argument)")
    for action in hook.actions {
      switch action {
      case .addToArgument(let n): frames[frame].argument += n
      case .addToResult(let n): frames[frame].result += n
      case .setResult(let n): frames[frame].result = n
      case .proceed:
        frames[frame].running = nil
        run(from: index + 1, takesPart, type)
        frames[frame].running = index
      case .call(let place, let argument):
        guard budget.enter() else { continue }
        log.append("=\(callVirtually(hook.method.called, at: place, argument, shown: hook.method.hasResult))")
        budget.leave()
      case .remove(let number): log.append("-\(remove(number))")
      case .enable(let number, let isEnabled): log.append("~\(enable(number, isEnabled))")
      }
    }
    log.append(">\(hook.number)|\(hook.position == .before || !hook.method.hasResult ? 0 : frames[frame].result)")
    frames[frame].running = outer
  }

  private mutating func callVirtually(_ method: Method, at place: Int, _ argument: Int, shown: Bool) -> Int {
    let result = callVirtually(method, at: place, argument)
    return shown ? result : 0
  }

  // MARK: Originals

  private mutating func original(_ method: Method, _ object: Object?, _ n: Int, _ type: Class) -> Int {
    switch method {
    case .shapeArea:
      log.append("Shape.area")
      return object!.tag * 10 + n
    case .squareArea:
      log.append("Square.area")
      return call(.shapeArea, object, n, type: type) + 1
    case .shapeScale:
      log.append("Shape.scale")
      return object!.tag + n
    case .dotScale:
      log.append("Dot.scale")
      return call(.shapeScale, object, n, type: type)
    case .fixed:
      log.append("Shape.fixed")
      return object!.tag * n
    case .down:
      log.append("down\(n)")
      return n <= 0 ? object!.tag : call(.down, object, n - 1, type: type) + 1
    case .halve: return n / 2 + object!.tag
    case .setSide: return 0
    case .kind:
      log.append("\(type.name).kind")
      return n
    case .count:
      log.append("count")
      return n
    case .grown:
      log.append("grown")
      return 1 + n
    case .free:
      log.append("free")
      return n
    }
  }
}

extension Method {
  /// What a handler calls that calls its own method: always as anybody would, through the virtual table.
  var called: Method {
    switch self {
    case .squareArea: .shapeArea
    case .dotScale: .shapeScale
    default: self
    }
  }
}
extension Class {
  var name: String {
    switch self {
    case .shape: "Shape"
    case .square: "Square"
    case .smallSquare: "SmallSquare"
    case .circle: "Circle"
    case .dot: "Dot"
    }
  }
}
