// What the verbs of patches are tried on: a cart, work that takes until somebody says it is done, and notifications.
import Foundation

public final class Cart {
  public var title: String
  public var items = 0
  public init(_ title: String) { self.title = title }
  deinit { say("end of \(title)") }
  @inline(never) public func add(_ count: Int) -> Int {
    items += count
    return items
  }
  @inline(never) public func total(tax: Double) -> Double { Double(items) * (1 + tax) }
  @inline(never) public func name() -> String { "cart " + title }
  @inline(never) public func changed() {
    NotificationCenter.default.post(name: Notification.Name("cart.changed"), object: self, userInfo: ["items": items, "by": title])
  }
}

/// Says so when nobody has it any more.
final class Witness: Sendable {
  let name: String
  init(_ name: String) { self.name = name }
  deinit { say("\(name) is free") }
}

func say(_ text: String) {
  print(text)
  fflush(nil)
}

/// No; what an optimiser cannot know.
@inline(never) func isDone() -> Bool { CommandLine.argc > 99 }
@inline(never) func isMain() -> Bool { Thread.isMainThread }
@inline(never) func inner(_ cart: Cart, _ count: Int) -> Int { cart.add(count) + 1 }
@inline(never) func outer(_ cart: Cart) -> Int { inner(cart, 2) + inner(cart, 3) }
@inline(never) func load(_ count: Int) async -> Int {
  await Task.yield()
  return count * 2
}
@inline(never) func loadAll() async -> Int { await load(3) + 1 }
@inline(never) func drop(_ body: () -> Void) { body() }

/// Until a patch says it is done.
@inline(never) func wait() {
  for _ in 0..<10_000 where !isDone() { usleep(1000) }
  say("over")
}

nonisolated(unsafe) var shelf: Cart?

let mode = CommandLine.arguments.dropFirst().first ?? "calls"
switch mode {
case "calls":
  let cart = Cart("books")
  say("\(outer(cart)) \(cart.total(tax: 0.5)) \(cart.name())")
  let isOver = DispatchSemaphore(value: 0)
  Task.detached {
    say("\(await loadAll())")
    isOver.signal()
  }
  isOver.wait()
case "wait": wait()
case "object":
  // Not in a frame: what lies there cannot be a target.
  shelf = Cart("short")
  say("\(shelf?.add(1) ?? 0)")
  shelf = nil
  wait()
case "main":
  Thread.detachNewThread {
    wait()
    exit(0)
  }
  // It ends at once where it has no sources.
  while true { RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.02)) }
case "living":
  // Posts until its input ends.
  let cart = Cart("living")
  Thread.detachNewThread {
    _ = readLine()
    exit(0)
  }
  while true {
    cart.changed()
    usleep(2000)
  }
case "stuck":
  wait()
case "notes":
  let center = NotificationCenter.default
  let token = center.addObserver(forName: Notification.Name("from.lua"), object: nil, queue: nil) { note in
    say("program got \(note.name.rawValue) \((note.object as? Cart)?.title ?? "nobody") \(note.userInfo?["x"] ?? "nothing")")
  }
  let first = Cart("first"), second = Cart("second")
  _ = first.add(2)
  first.changed()
  second.changed()
  do {
    let third = Cart("third")
    _ = third.add(7)
    third.changed()
  }
  first.changed()
  center.removeObserver(token)
  wait()
case "outlived":
  do {
    let cart = Cart("gone")
    let witness = Witness("observer")
    // Nobody takes it away.
    _ = NotificationCenter.default.addObserver(forName: Notification.Name("cart.changed"), object: cart, queue: nil) { _ in say("told \(witness.name)") }
    cart.changed()
  }
  wait()
default: fatalError("no mode '\(mode)'")
}
