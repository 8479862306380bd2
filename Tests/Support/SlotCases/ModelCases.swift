// Random hooks of every back end and scope on one hierarchy, against a model of what has to run, in which order.
import Checks
import Glibc
import HookRuntime
import SlotSubjects

/// xorshift: the same numbers for the same seed.
private struct Numbers {
  var state: UInt64
  mutating func next(_ bound: Int) -> Int {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return Int(state >> 33) % bound
  }
  mutating func one<T>(of list: [T]) -> T { list[next(list.count)] }
}

/// What the model knows of a hook.
private final class ModelHook {
  let selector: String
  let backEnd: BackEnd
  let subclass: Animal.Type?
  let object: Animal?
  let position: Position
  let priority: Int
  let note: Note
  let tokens: [HookToken]
  let sequence: Int
  var isEnabled = true

  init(
    _ selector: String, _ backEnd: BackEnd, _ subclass: Animal.Type?, _ object: Animal?, _ position: Position, _ priority: Int,
    _ note: Note,
    _ tokens: [HookToken], _ sequence: Int
  ) {
    (self.selector, self.backEnd, self.subclass, self.object, self.position) = (selector, backEnd, subclass, object, position)
    (self.priority, self.note, self.tokens, self.sequence) = (priority, note, tokens, sequence)
  }

  func isFor(_ target: Animal) -> Bool {
    if let object { return object === target }
    if let subclass { return isKind(target, subclass) }
    return true
  }
}

extension ModelHook: CustomStringConvertible {
  var description: String {
    let scope = object.map { "object \($0.name)" } ?? subclass.map { "subclass \($0)" } ?? "type"
    return "\(note.name) \(position) \(selector) by \(backEnd), \(scope), priority \(priority)\(isEnabled ? "" : ", disabled")"
  }
}

private func isKind(_ object: Animal, _ type: Animal.Type) -> Bool {
  var each: AnyClass? = Swift.type(of: object)
  while let here = each {
    if here == type { return true }
    each = _getSuperclass(here)
  }
  return false
}

/// The hierarchy: which implementation an object runs, and what that calls in turn.
private struct Model {
  var hooks: [ModelHook] = []

  static func implementation(_ method: String, _ object: Animal) -> String {
    switch method {
    case "walk": object is Cat ? "Cat.walk(_:)" : "Animal.walk(_:)"
    case "speak": object is Dog ? "Dog.speak(_:)" : "Animal.speak(_:)"
    case "twice": object is Puppy ? "Puppy.twice(_:)" : "Animal.twice(_:)"
    default: "Animal.swapped(_:)"
    }
  }

  /// A virtual call of a method.
  func call(_ method: String, _ object: Animal, _ n: Int, throughProtocol: Bool = false) -> [String] {
    func virtual(_ n: Int) -> [String] { run(Self.implementation(method, object), object, n, [.entry, .vtable, .classSwitch, .dynamic]) }
    guard throughProtocol else { return virtual(n) }
    return nest(hooks.filter { $0.selector == "Speaker.speak(_:)" && $0.isEnabled && $0.isFor(object) }, n, virtual)
  }

  private func run(_ selector: String, _ object: Animal, _ n: Int, _ ways: Set<BackEnd>) -> [String] {
    let seen = hooks.filter { $0.selector == selector && $0.isEnabled && ways.contains($0.backEnd) && $0.isFor(object) }
    return nest(seen, n) { n in
      let line = "\(selector.prefix { $0 != "(" }) \(n)"
      guard selector == "Dog.speak(_:)" else { return [line] }
      // Called directly: only what is diverted at its entry shows.
      return [line] + run("Animal.speak(_:)", object, n, [.entry])
    }
  }

  /// The order of docs/hooks.md: object hooks outside, then priority, then the newer.
  private func nest(_ hooks: [ModelHook], _ n: Int, _ original: (Int) -> [String]) -> [String] {
    let order = hooks.sorted { a, b in
      if (a.object != nil) != (b.object != nil) { return a.object != nil }
      return (a.priority, a.sequence) > (b.priority, b.sequence)
    }
    var n = n
    var before: [String] = []
    var after: [String] = []
    for hook in order {
      let name = hook.note.name
      switch hook.position {
      case .before: before.append(name + ">")
      case .around: before.append(name + "(")
      case .after: break
      case .both: before.append(name + ">")
      }
      if hook.position == .before || hook.position == .both { n += hook.note.adds }
      switch hook.position {
      case .before: break
      case .around: after.append(")" + name)
      case .after, .both: after.append("<" + name)
      }
    }
    return before + original(n) + after.reversed()
  }
}

private func randomHooks(seed: UInt64, steps: Int) {
  var numbers = Numbers(state: seed &* 0x9E37_79B9_7F4A_7C15 | 1)
  var model = Model()
  let objects: [Animal] = [Animal(name: "a"), Dog(name: "d"), Dog(name: "e"), Puppy(name: "p"), Cat(name: "c")].map(hidden)
  let selectors: [(String, [BackEnd])] = [
    ("Animal.walk(_:)", [.entry, .vtable, .classSwitch]), ("Cat.walk(_:)", [.entry, .vtable]),
    ("Animal.speak(_:)", [.entry, .vtable, .classSwitch]), ("Dog.speak(_:)", [.entry, .vtable, .classSwitch]),
    ("Animal.twice(_:)", [.entry, .vtable, .classSwitch]), ("Puppy.twice(_:)", [.entry, .vtable]),
    ("Animal.swapped(_:)", [.entry, .vtable, .classSwitch, .dynamic]), ("Speaker.speak(_:)", [.witness]),
  ]
  var installedHooks = 0
  var calls = 0
  for step in 0..<steps {
    switch numbers.next(10) {
    case 0...2 where model.hooks.count < 12:
      let (selector, backEnds) = numbers.one(of: selectors)
      let backEnd = numbers.one(of: backEnds)
      var subclass: Animal.Type?
      var object: Animal?
      switch backEnd == .classSwitch ? 2 : backEnd == .witness ? 0 : numbers.next(3) {
      case 1: subclass = numbers.one(of: [Dog.self, Puppy.self, Cat.self] as [Animal.Type])
      case 2 where backEnd != .vtable: object = numbers.one(of: objects)
      default: break
      }
      let position = numbers.one(of: Position.allCases)
      let priority = numbers.next(3)
      let note = Note("\(step)", adds: numbers.next(2))
      let scope: HookScope = object.map { .object($0) } ?? subclass.map { .subclass($0) } ?? .type
      switch report(selector, note, position, by: backEnd, scope: scope, priority: priority) {
      case .success(let report):
        let tokens = report.tokens.map(\.token)
        // Told to miss calls: which ones is for the case below.
        if !report.partial.isEmpty {
          check(backEnd == .entry && (object != nil || subclass != nil), true, "seed \(seed), step \(step): \(selector) in part")
          remove(tokens)
          continue
        }
        model.hooks.append(ModelHook(selector, backEnd, subclass, object, position, priority, note, tokens, step))
        installedHooks += 1
      case .failure(let reason):
        // A class or object that runs another implementation, or cannot be switched.
        check(
          ["overridden", "not-a-subclass", "final-class"].contains(reason.code), true, "seed \(seed), step \(step): \(selector) \(reason)")
      }
    case 3 where !model.hooks.isEmpty:
      remove(model.hooks.remove(at: numbers.next(model.hooks.count)).tokens)
    case 4 where !model.hooks.isEmpty:
      let hook = numbers.one(of: model.hooks)
      hook.isEnabled.toggle()
      for token in hook.tokens { check(HookEngine.shared.setEnabled(hook.isEnabled, token), true, "seed \(seed), step \(step): switched") }
    default:
      let object = numbers.one(of: objects)
      let n = numbers.next(100)
      let method = numbers.one(of: ["walk", "speak", "twice", "swapped", "protocol"])
      let expected = method == "protocol" ? model.call("speak", object, n, throughProtocol: true) : model.call(method, object, n)
      let found = trace {
        switch method {
        case "walk": _ = object.callWalk(n)
        case "speak": _ = object.callSpeak(n)
        case "twice": _ = object.callTwice(n)
        case "swapped": _ = object.callSwapped(n)
        default: _ = speakThrough(object, n)
        }
      }
      calls += 1
      check(found, expected.joined(separator: " "), "seed \(seed), step \(step): \(method) on \(object.name)")
    }
    if failures > 0 {
      for hook in model.hooks { print("  \(hook)", HookEngine.shared.info(hook.tokens[0]).map { "\($0)" } ?? "gone") }
      for object in objects {
        print(object.name, trace { _ = object.callWalk(1) + object.callSpeak(1) + object.callSwapped(1) + (object.callTwice(1) ?? 0) })
      }
      break
    }
  }
  for hook in model.hooks { remove(hook.tokens) }
  for object in objects {
    check(
      trace { _ = object.callWalk(1) + object.callSpeak(2) + (object.callTwice(3) ?? 0) + object.callSwapped(4) + speakThrough(object, 5) },
      (Model().call("walk", object, 1) + Model().call("speak", object, 2) + Model().call("twice", object, 3)
        + Model().call("swapped", object, 4)
        + Model().call("speak", object, 5)).joined(separator: " "), "seed \(seed): nothing is left on \(object.name)")
  }
  if installedHooks == 0 || calls == 0 { check(0, 1, "seed \(seed): nothing was tried") }
}

/// Virtual calls, by classes and objects, of every method: seen, or said to be seen in part, or refused.
private func claimsOfScopes() {
  let objects: [Animal] = [Animal(name: "a"), Dog(name: "d"), Puppy(name: "p"), Cat(name: "c")].map(hidden)
  let calls: [(String, (Animal) -> Void)] = [
    ("walk", { _ = $0.callWalk(1) }), ("speak", { _ = $0.callSpeak(1) }), ("twice", { _ = $0.callTwice(1) }),
    ("swapped", { _ = $0.callSwapped(1) }),
  ]
  for object in objects {
    for (method, call) in calls {
      let selector = Model.implementation(method, object)
      for scope in [.object(object), .subclass(type(of: object))] as [HookScope] {
        guard case .success(let report) = report(selector, Note("h"), by: .entry, scope: scope) else { continue }
        let seen = trace { call(object) }
        if report.partial.isEmpty { check(seen.hasPrefix("h> "), true, "\(selector) for \(scope): \(seen)") }
        remove(report.tokens.map(\.token))
      }
    }
  }
}

@MainActor let modelCases: [(String, () throws -> Void)] = [
  ("entry: hooks for objects and classes see all calls, or say that they do not", claimsOfScopes),
  (
    "random hooks of all back ends and scopes follow the order, through removals",
    {
      let given = getenv("SCRIPTHOST_SEED").flatMap { UInt64(String(cString: $0)) }
      let first = given ?? UInt64.random(in: 1...1_000_000)
      print("seed \(first) (SCRIPTHOST_SEED)")
      for seed in first..<(first + (given == nil ? 10 : 1)) where failures == 0 { randomHooks(seed: seed, steps: 1000) }
    }
  ),
]
