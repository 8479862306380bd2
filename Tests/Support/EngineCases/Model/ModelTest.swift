// ModelTest — a thousand random hooks on types and objects, in the engine and in the model: calls, values and order are equal.
import HookRuntime

/// One run with one seed.
struct ModelTest {
  private var generator: Generator
  private let seed: UInt64
  private var model = Model()
  private let world = World()
  private var nextHook = 1
  private var nextObject = 1
  private var nextTag = 1
  private(set) var calls = 0
  private(set) var handled = 0

  init(seed: UInt64) {
    self.seed = seed
    generator = Generator(seed: seed)
  }

  private static let places = 8
  private static let owners = ["a", "b"]

  /// Installs `count` hooks, with calls, removals and other changes between them. Answers what went wrong first, or nil.
  mutating func run(hooks count: Int) -> String? {
    defer { for owner in Self.owners { engine.removeAll(owner: owner) } }
    for place in 0..<Self.places { renew(place) }
    while nextHook <= count {
      do { if let problem = try step() { return "seed \(seed), after \(nextHook - 1) hooks and \(calls) calls: \(problem)" } } catch {
        return "seed \(seed): \(error)"
      }
    }
    return nil
  }

  private mutating func random(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }

  private mutating func step() throws -> String? {
    switch random(0...99) {
    case 0..<25: return try install()
    case 25..<32: return compare("remove", removeOne())
    case 32..<38: return compare("enable", enableOne())
    case 38: return compare("remove a group", removeGroup())
    case 39:
      renew(random(0...Self.places - 1))
      return nil
    case 40..<42: return model.live == world.live ? nil : "live hooks: \(world.live), expected \(model.live)"
    default: return call()
    }
  }

  private func compare<T: Equatable>(_ what: String, _ pair: (found: T, expected: T)) -> String? {
    pair.found == pair.expected ? nil : "\(what): found \(pair.found), expected \(pair.expected)"
  }

  // MARK: Calls

  private mutating func call() -> String? {
    let method = (random(0...2) == 0 ? Method.allCases.filter { $0.called == $0 } : [.shapeArea, .shapeScale, .down]).randomElement(
      using: &generator)!
    let place = random(0...Self.places - 1)
    let argument = random(0...3)
    let expected = model.run(method, at: place, argument)
    let found = world.run(method, at: place, argument)
    calls += 1
    handled += expected.log.count { $0.hasPrefix("<") }
    if found == expected { return nil }
    let at = zip(found.log, expected.log).prefix { $0 == $1 }.count
    return """
      \(method) on a \(model.objects[place].type) (\(model.objects[place].number)) with \(argument): result \(found.result), expected \(expected.result)
        found    \(found.log.dropFirst(max(0, at - 6)).prefix(16).joined(separator: " "))
        expected \(expected.log.dropFirst(max(0, at - 6)).prefix(16).joined(separator: " "))
        hooks    \(model.hooks.values.filter { $0.method == method || $0.method.called == method }.map { "\($0)" }.joined(separator: "\n           "))
      """
  }

  // MARK: Changes

  private mutating func renew(_ place: Int) {
    let type = Class.allCases.randomElement(using: &generator)!
    let object = Model.Object(number: nextObject, type: type, tag: nextTag)
    nextObject += 1
    nextTag += 1
    if place == model.objects.count {
      model.objects.append(object)
    } else {
      model.end(model.objects[place])
      model.objects[place] = object
    }
    world.add(type, tag: object.tag, at: place)
  }

  private mutating func removeOne() -> (Bool, Bool) {
    // Now and then one that is gone.
    let number = random(0...9) == 0 ? random(1...nextHook) : model.hooks.keys.sorted().randomElement(using: &generator) ?? 1
    return (world.remove(number), model.remove(number))
  }

  private mutating func enableOne() -> (Bool, Bool) {
    let number = model.hooks.keys.sorted().randomElement(using: &generator) ?? 1
    let isEnabled = random(0...2) > 0
    return (world.enable(number, isEnabled), model.enable(number, isEnabled))
  }

  private mutating func removeGroup() -> (Int, Int) {
    let owner = Self.owners.randomElement(using: &generator)!
    let group = random(0...4) == 0 ? nil : "\(random(1...3))"
    let meant = model.hooks.values.filter { $0.owner == owner && (group == nil || $0.group == group) }
    let expected = meant.count { model.remove($0.number) }
    return (engine.removeAll(owner: owner, group: group), expected)
  }

  private mutating func install() throws -> String? {
    let hooks = (0..<(random(0...5) == 0 ? 3 : 1)).map { _ in makeHook() }
    let isPossible = hooks.allSatisfy(canBe)
    let places = Dictionary(uniqueKeysWithValues: model.objects.enumerated().map { ($1.number, $0) })
    let refused = try world.install(hooks) { places[$0]! }
    if refused.isEmpty != isPossible { return "install \(hooks): \(refused.isEmpty ? "installed" : "\(refused)")" }
    if isPossible { for hook in hooks { model.hooks[hook.number] = hook } }
    // Few enough that calls stay short.
    while model.hooks.count > 40, let oldest = model.hooks.keys.min() {
      if let problem = compare("remove", (world.remove(oldest), model.remove(oldest))) { return problem }
    }
    return nil
  }

  /// docs/hooks.md and ScopeCheck: hooks that could never fire are refused.
  private func canBe(_ hook: ModelHook) -> Bool {
    switch hook.scope {
    case .type: return true
    case .subclass(let type):
      switch hook.method {
      case .kind, .count: return true
      default: return type.runs(hook.method)
      }
    case .object(let number): return model.objects.first { $0.number == number }!.type.runs(hook.method)
    }
  }

  private mutating func makeHook() -> ModelHook {
    defer { nextHook += 1 }
    // Most on few, so that they meet.
    let method = (random(0...2) == 0 ? Method.allCases : [.shapeArea, .squareArea, .shapeScale, .dotScale, .down]).randomElement(
      using: &generator)!
    let position = [Position.before, .around, .after].randomElement(using: &generator)!
    let scope: ModelScope
    switch random(0...9) {
    case 0..<4: scope = .type
    case 4..<6: scope = .subclass(Class.allCases.randomElement(using: &generator)!)
    default: scope = .object(model.objects.randomElement(using: &generator)!.number)
    }
    return ModelHook(
      number: nextHook, method: method, position: position, scope: scope, priority: random(0...2) == 0 ? random(-3...3) : 0,
      isOnce: random(0...9) == 0, owner: Self.owners.randomElement(using: &generator)!,
      group: random(0...1) == 0 ? nil : "\(random(1...3))", actions: actions(method, position))
  }

  private mutating func actions(_ method: Method, _ position: Position) -> [Action] {
    var actions: [Action] = []
    // A recursion must come to its end, and twice at each of its steps is too much.
    let more = method == .down ? -1...0 : -2...3
    if random(0...1) == 0 { actions.append(.addToArgument(random(more))) }
    if random(0...3) == 0 { actions.append(.call(place: random(0...Self.places - 1), argument: random(0...2))) }
    if random(0...15) == 0 { actions.append(.remove(hook: random(max(1, nextHook - 30)...nextHook))) }
    if random(0...15) == 0 { actions.append(.enable(hook: random(max(1, nextHook - 30)...nextHook), random(0...1) == 0)) }
    if position == .around {
      let times = random(0...9)
      actions.append(times == 0 ? .setResult(random(0...50)) : .proceed)
      if times == 1, method != .down { actions.append(.proceed) }
    }
    if position != .before {
      if random(0...1) == 0 { actions.append(.addToResult(random(-3...3))) }
      if random(0...3) == 0 { actions.append(.call(place: random(0...Self.places - 1), argument: random(0...2))) }
    }
    return actions
  }
}
