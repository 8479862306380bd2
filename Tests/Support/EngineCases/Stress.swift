// Stress — hooks come and go on all threads while all call: every call sees each hook whole or not at all, and nothing is left.
import Checks
import CHookTrampoline
import EngineSubjects
import Glibc
import HookRuntime
import Sampling
import Synchronization

/// What the threads share. Handlers add ten to the argument for the original and a thousand to the result, so that a result
/// tells whether a call was seen by half.
final class Stress: @unchecked Sendable {
  // Objects are made before the threads start; all else is atomic or the engine's.
  private let shared: [Shape]
  private let libraries: [String]
  private let stop = Atomic<Bool>(false)
  private let wrong = Atomic<Int>(0)
  let calls = Atomic<Int>(0)
  let changes = Atomic<Int>(0)
  let refused = Atomic<Int>(0)
  let opened = Atomic<Int>(0)
  let hookedLate = Atomic<Int>(0)
  let ended = Atomic<Int>(0)

  init(libraries: [String]) {
    self.libraries = libraries
    shared = [Shape(tag: 0), Square(tag: 0), SmallSquare(tag: 0), Circle(tag: 0), Dot(tag: 0)]
  }

  static func run(seconds: Int, seed: UInt64, libraries: [String]) -> Int32 {
    Log.isOn = false
    // At once, for a run that does not come to its end.
    print("seed \(seed)")
    fflush(nil)
    let stress = Stress(libraries: libraries)
    let threads = (0..<4).map { number in Thread { stress.work(Generator(seed: seed &* 31 &+ UInt64(number))) } }
    sleep(UInt32(seconds))
    stress.stop.store(true, ordering: .relaxed)
    threads.forEach { $0.join() }
    let removed = engine.removeAll(owner: "stress")
    stress.checkQuiet()
    let wrong = stress.wrong.load(ordering: .relaxed)
    print(
      """
      \(seconds) s: \(stress.calls.load(ordering: .relaxed)) calls, \(stress.changes.load(ordering: .relaxed)) changes \
      (\(stress.refused.load(ordering: .relaxed)) refused), \(stress.ended.load(ordering: .relaxed)) objects ended, \
      \(stress.opened.load(ordering: .relaxed)) libraries opened (\(stress.hookedLate.load(ordering: .relaxed)) hooked), \(removed) hooks left, \(wrong) wrong, \(hkt_retired_waiting()) sets in use
      """)
    return wrong == 0 && hkt_retired_waiting() == 0 && engine.list().isEmpty ? 0 : 1
  }

  private func work(_ start: Generator) {
    var generator = start
    var tokens: [HookToken] = []
    var own: [Shape] = []
    while !stop.load(ordering: .relaxed) {
      switch Int.random(in: 0..<100, using: &generator) {
      case 0..<70: for _ in 0..<20 { call(own, &generator) }
      case 70..<80: install(own, &tokens, &generator)
      case 80..<87: if let token = tokens.popLast() { note(engine.remove(token)) }
      case 87..<91: if let token = tokens.randomElement(using: &generator) { engine.setEnabled(Bool.random(using: &generator), token) }
      case 91..<93: note(engine.removeAll(owner: "stress", group: "\(Int.random(in: 0..<4, using: &generator))") > 0)
      case 93..<99: renew(&own, &generator)
      default: open(&generator)
      }
      if tokens.count > 20 { note(engine.remove(tokens.removeFirst())) }
    }
    engine.remove(tokens)
  }

  private func note(_ changed: Bool) { if changed { changes.wrappingAdd(1, ordering: .relaxed) } }

  private func renew(_ own: inout [Shape], _ generator: inout Generator) {
    if own.count > 5 {
      own.removeFirst()
      ended.wrappingAdd(1, ordering: .relaxed)
    }
    own.append([Circle(tag: 0), Dot(tag: 0), SmallSquare(tag: 0)].randomElement(using: &generator)!)
  }

  // MARK: Calls

  private func call(_ own: [Shape], _ generator: inout Generator) {
    let object = (own.isEmpty || Bool.random(using: &generator) ? shared : own).randomElement(using: &generator)!
    switch Int.random(in: 0..<7, using: &generator) {
    case 0: check(scale(object, 1), 1)
    case 1: check(EngineSubjects.area(object, 1), object is Square ? 2 : 1)
    case 2: check(object.down(2) % 1000 % 10, 2)
    case 3: check(Size(width: 0).grown(1), 1)
    case 4: check(Shape.count(1), 1)
    case 5: check(type(of: object).kind(1), 1)
    default: check((try? object.fail(1)) ?? -1, 1)
    }
    calls.wrappingAdd(1, ordering: .relaxed)
  }

  /// `expected` is the result without hooks; each adds ten on the way in and a thousand on the way out.
  private func check(_ found: Int, _ expected: Int) {
    if found % 10 == expected % 10, found / 1000 == found % 1000 / 10 { return }
    say("wrong result \(found), expected \(expected) and 1010 for each hook")
  }

  private func say(_ problem: String) { if wrong.wrappingAdd(1, ordering: .relaxed).newValue < 10 { print(problem) } }

  // MARK: Hooks

  private static let selectors = [
    "scale(_:)", "area(_:)", "Square.area(_:)", "Dot.scale(_:)", "grown(_:)", "static count(_:)", "static kind(_:)", "fail(_:)", "deinit",
  ]

  private static func spelled(_ selector: String) -> String {
    if selector == "grown(_:)" { return "EngineSubjects.Size.grown(_:)" }
    if selector.hasPrefix("static ") { return "static \(shape).\(selector.dropFirst(7))" }
    return selector.contains(".") ? "EngineSubjects.\(selector)" : "\(shape).\(selector)"
  }

  private func install(_ own: [Shape], _ tokens: inout [HookToken], _ generator: inout Generator) {
    let number = Int.random(in: 0..<4, using: &generator) == 0 ? 3 : 1
    var all: [HookRequest] = []
    for _ in 0..<number {
      let selector = Self.selectors.randomElement(using: &generator)!
      var wish = Wish()
      switch Int.random(in: 0..<6, using: &generator) {
      case 0: wish.scope = .subclass([Square.self, Circle.self, SmallSquare.self].randomElement(using: &generator)!)
      case 1...3: wish.scope = .object((own + shared).randomElement(using: &generator)!)
      default: break
      }
      switch Int.random(in: 0..<8, using: &generator) {
      case 0: wish.backEnd = .vtable
      case 1: wish.backEnd = .classSwitch
      default: break
      }
      all += (try? requests(Self.spelled(selector), wish)) ?? []
    }
    let isOnce = Int.random(in: 0..<5, using: &generator) == 0
    let group = "\(Int.random(in: 0..<4, using: &generator))"
    let report = engine.install(all, atomically: Bool.random(using: &generator)) { family in
      let isDeinit = family.selector.hasSuffix("deinit")
      return spec(Wish(position: isDeinit ? .before : .around, isOnce: isOnce, owner: "stress", group: group)) { call in
        if isDeinit { return }
        call.argument += 10
        call.proceed()
        call.result += 1000
      }
    }
    tokens += report.tokens.map(\.token)
    changes.wrappingAdd(report.tokens.count, ordering: .relaxed)
    note(refusal: report)
  }

  private func note(refusal report: HookEngine.Report) { refused.wrappingAdd(report.refused.count, ordering: .relaxed) }

  /// Opens a library, hooks its function, calls it, and closes it.
  private func open(_ generator: inout Generator) {
    guard let path = libraries.randomElement(using: &generator), let handle = dlopen(path, RTLD_NOW | RTLD_LOCAL) else { return }
    defer { dlclose(handle) }
    opened.wrappingAdd(1, ordering: .relaxed)
    guard let symbol = dlsym(handle, "work") else { return }
    typealias Work = @convention(c) (Int) -> Int
    let work = unsafeBitCast(symbol, to: Work.self)
    check(work(1), 1)
    guard Bool.random(using: &generator) else { return }
    let name = path.split(separator: "/").last!.dropFirst(3).dropLast(3)
    guard let found = try? requests("\(name).inner(_:)", Wish()) else { return }
    let report = engine.install(found) { _ in
      spec(Wish(position: .around, owner: "stress")) { call in
        call.argument += 10
        call.proceed()
        call.result += 1000
      }
    }
    let result = work(1)
    check(result, 1)
    // Nobody else takes this one out: the call has to come to it.
    if report.tokens.isEmpty { note(refusal: report) } else if result < 1000 { say("a hook of \(name) was not called") }
    hookedLate.wrappingAdd(report.tokens.count, ordering: .relaxed)
    engine.remove(report.tokens.map(\.token))
    check(work(1), 1)
  }

  private func checkQuiet() {
    for object in shared {
      for (found, expected) in [(scale(object, 1), 1), (EngineSubjects.area(object, 1), object is Square ? 2 : 1)] where found != expected {
        say("\(type(of: object)): \(found) after all hooks were removed, expected \(expected)")
      }
    }
  }
}

/// Memory after many hooks came and went.
enum Soak {
  /// Installs and removes one hook after the other.
  static func cycles(_ count: Int) throws -> Int32 {
    Log.isOn = false
    let circle = Circle(tag: 1)
    let wishes = [Wish(), Wish(position: .around), on(circle), subclasses(Circle.self, .after), Wish(isOnce: true)]
    return try flat("cycles", count) { number in
      let token = try hook("\(shape).scale(_:)", wishes[number % wishes.count]) { $0.phase == HKT_AROUND ? $0.proceed() : () }
      if number % 7 == 0 { _ = scale(circle, 1) }
      engine.remove(token)
    }
  }

  /// Makes objects, hooks and forgets them.
  static func objects(_ count: Int) throws -> Int32 {
    Log.isOn = false
    let seen = Atomic<Int>(0)
    return try withUnsafePointer(to: seen) { seen in
      try flat("objects", count) { number in
        let object = Circle(tag: number)
        try hook("\(shape).scale(_:)", on(object)) { _ in seen.pointee.wrappingAdd(1, ordering: .relaxed) }
        if scale(object, 1) != number + 1 { throw Refused("wrong result") }
        if seen.pointee.load(ordering: .relaxed) != number + 1 { throw Refused("a hook was not called, or another object's was") }
      }
    }
  }

  /// What a call costs on objects without hooks of their own, while `count` others have some.
  static func crowd(_ count: Int) throws -> Int32 {
    Log.isOn = false
    let objects = (0..<count).map { Circle(tag: $0) }
    let other = Circle(tag: 1)
    func time() -> Double {
      let rounds = 200_000
      let start = processTime()
      for n in 0..<rounds where scale(other, n) != n + 1 { return -1 }
      return (processTime() - start) / Double(rounds)
    }
    try hook("\(shape).scale(_:)", on(objects[0])) { $0.argument += 1 }
    let few = time()
    let start = processTime()
    for object in objects.dropFirst() { try hook("\(shape).scale(_:)", on(object)) { $0.argument += 1 } }
    let each = (processTime() - start) / Double(max(1, count - 1)) / 1000
    let many = time()
    let wrong = objects.count { scale($0, 1) != $0.tag + 2 }
    print("crowd \(count): a call on another object \(few) ns beside one, \(many) ns beside all; \(each) us each to hook; \(wrong) wrong")
    return wrong == 0 && many < 3 * few + 50 ? 0 : 1
  }

  /// Memory after each tenth of the way. What is kept for the first time comes to rest in the first one.
  private static func flat(_ name: String, _ count: Int, _ body: (Int) throws -> Void) throws -> Int32 {
    let start = processTime()
    var memory: [Int] = []
    for step in 1...10 {
      for number in count * (step - 1) / 10..<count * step / 10 { try body(number) }
      memory.append(Int(memoryKiB("Rss")))
    }
    let each = (processTime() - start) / Double(count) / 1000
    print("\(name) \(count): \(memory.map(String.init).joined(separator: ", ")) KiB, \(each) us each, \(hkt_retired_waiting()) sets in use")
    return memory.max()! - memory[0] < 1024 && hkt_retired_waiting() == 0 ? 0 : 1
  }
}
