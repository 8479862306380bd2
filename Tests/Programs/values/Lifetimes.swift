// Lifetimes — for each kind of value, calls a function with two of them very often, and prints what the calls left behind:
// how much memory, from tenth to tenth of the calls, and who is still alive. The patch swaps the two and makes the first the
// result; the program counts how often that was so. `lifetimes ROUNDS [KIND…]`.
import Glibc

nonisolated(unsafe) var live = 0
nonisolated(unsafe) var swapped = 0
/// Never true, which no compiler knows: both arguments are wanted whole.
nonisolated(unsafe) public var other = CommandLine.arguments.count == 99

public protocol Named {
  var id: Int { get }
}
public class Item: Named, @unchecked Sendable {  // used by one thread at a time
  public let id: Int
  public var name: String
  public init(_ id: Int) {
    self.id = id
    name = "the name of item number \(id)"
    live += 1
  }
  deinit { live -= 1 }
}
public struct Words: Named {
  public var id: Int, text: String, item: Item
  init(_ id: Int) { self.id = id; text = "the text of words number \(id)"; item = Item(id) }
}
public struct Large: Named, Error {
  public var id: Int, text: String, item: Item, d: Double, e: Int8, all: [Int]
  init(_ id: Int) { self.id = id; text = "the text of large number \(id)"; item = Item(id); d = 1.5; e = 3; all = [id, id] }
}
public enum Choice: Named {
  case none
  case text(String)
  case item(Item)
  case both(Item, Int)
  init(_ id: Int) { self = id % 2 == 0 ? .item(Item(id)) : .both(Item(id), 7) }
  public var id: Int {
    switch self {
    case .none: -1
    case .text(let text): text.utf8.count
    case .item(let item), .both(let item, _): item.id
    }
  }
}
public indirect enum Chain: Named {
  case end(Item)
  case more(Item, Chain)
  init(_ id: Int) { self = .more(Item(id), .end(Item(id))) }
  public var id: Int {
    switch self {
    case .end(let item), .more(let item, _): item.id
    }
  }
}

// Not optimised: a clone whose result nobody owns has none to replace, and a caller that knows that a function always throws
// has no code for a result.
@inline(never) func saw(_ x: Int, _ y: Int) { if x == y + 1 { swapped += 1 } }
func number(_ text: String) -> Int { Int(text.split(separator: " ").last!)! }
func number(_ value: Any) -> Int { value as? Int ?? (value as! any Named).id }

@inline(never) @_optimize(none) public func int(_ x: Int, _ y: Int) -> Int { saw(x, y); return other ? y : x }
@inline(never) @_optimize(none) public func double(_ x: Double, _ y: Double) -> Double { saw(Int(x), Int(y)); return other ? y : x }
@inline(never) @_optimize(none) public func string(_ x: String, _ y: String) -> String { saw(number(x), number(y)); return other ? y : x }
@inline(never) @_optimize(none) public func object(_ x: Item, _ y: Item) -> Item { saw(x.id, y.id); return other ? y : x }
@inline(never) @_optimize(none) public func optional(_ x: Item?, _ y: Item?) -> Item? { saw(x!.id, y!.id); return other ? y : x }
@inline(never) @_optimize(none) public func words(_ x: Words, _ y: Words) -> Words { saw(x.id, y.id); return other ? y : x }
@inline(never) @_optimize(none) public func large(_ x: Large, _ y: Large) -> Large { saw(x.id, y.id); return other ? y : x }
@inline(never) @_optimize(none) public func optionalLarge(_ x: Large?, _ y: Large?) -> Large? { saw(x!.id, y!.id); return other ? y : x }
@inline(never) @_optimize(none) public func choice(_ x: Choice, _ y: Choice) -> Choice { saw(x.id, y.id); return other ? y : x }
@inline(never) @_optimize(none) public func chain(_ x: Chain, _ y: Chain) -> Chain { saw(x.id, y.id); return other ? y : x }
@inline(never) @_optimize(none) public func tuple(_ x: (Item, String), _ y: (Item, String)) -> (Item, String) { saw(x.0.id, y.0.id); return other ? y : x }
@inline(never) @_optimize(none) public func tupleInMemory(_ x: (Int, Large), _ y: (Int, Large)) -> (Int, Large) { saw(x.0, y.0); return other ? y : x }
@inline(never) @_optimize(none) public func array(_ x: [Item], _ y: [Item]) -> [Item] { saw(x[0].id, y[0].id); return other ? y : x }
@inline(never) @_optimize(none) public func dictionary(_ x: [String: Int], _ y: [String: Int]) -> [String: Int] { saw(x["n"]!, y["n"]!); return other ? y : x }
@inline(never) @_optimize(none) public func set(_ x: Set<Int>, _ y: Set<Int>) -> Set<Int> { saw(x.first!, y.first!); return other ? y : x }
@inline(never) @_optimize(none) public func existential(_ x: any Named, _ y: any Named) -> any Named { saw(x.id, y.id); return other ? y : x }
@inline(never) @_optimize(none) public func anything(_ x: Any, _ y: Any) -> Any { saw(number(x), number(y)); return other ? y : x }
@inline(never) @_optimize(none) public func error(_ x: any Error, _ y: any Error) -> any Error { saw((x as! Large).id, (y as! Large).id); return other ? y : x }
@inline(never) @_optimize(none) public func closure(_ x: @escaping () -> Int, _ y: @escaping () -> Int) -> () -> Int { saw(x(), y()); return other ? y : x }
@inline(never) @_optimize(none) public func consumed(_ x: consuming Words, _ y: consuming Words) -> Words { saw(x.id, y.id); return other ? y : x }
@inline(never) @_optimize(none) public func consumedLarge(_ x: consuming Large, _ y: consuming Large) -> Large { saw(x.id, y.id); return other ? y : x }
@inline(never) @_optimize(none) public func variable(_ x: inout Words, _ y: inout Words) -> Words { saw(x.id, y.id); return other ? y : x }
@inline(never) @_optimize(none) public func generic<T: Named>(_ x: T, _ y: T) -> T { saw(x.id, y.id); return other ? y : x }
@inline(never) @_optimize(none) public func throwing(_ x: Large, _ y: Large) throws -> Large {
  saw(x.id, y.id)
  if other { return y }
  throw x
}
@inline(never) @_optimize(none) public func throwingTyped(_ x: Large, _ y: Large) throws(Large) -> Words {
  saw(x.id, y.id)
  if other { return Words(y.id) }
  throw x
}
@inline(never) @_optimize(none) public func later(_ x: Large, _ y: Large) async -> Large { saw(x.id, y.id); return other ? y : x }

@inline(never) func residentKilobytes() -> Int {
  let file = fopen("/proc/self/statm", "r")!
  defer { fclose(file) }
  var size = 0, resident = 0
  _ = withUnsafeMutablePointer(to: &size) { size in
    withUnsafeMutablePointer(to: &resident) { resident in withVaList([size, resident]) { vfscanf(file, "%ld %ld", $0) } }
  }
  return resident * 4
}
/// Patches let go of what they still hold.
@inline(never) @_optimize(none) public func settle() {}

/// What a kind of value leaves behind, and how the memory grew from each tenth of the rounds to the next.
struct Tally {
  let name: String, rounds: Int
  private var replaced = 0, sizes: [Int] = []

  init?(_ name: String, _ rounds: Int) {
    guard CommandLine.arguments.count == 2 || CommandLine.arguments.dropFirst(2).contains(name) else { return nil }
    (self.name, self.rounds) = (name, rounds)
    sizes.reserveCapacity(10)
    swapped = 0
  }

  /// Called once for each round, with the number of the result of a call with values number `n` and `n` + 1.
  @inline(__always) mutating func add(_ n: Int, _ result: Int) {
    if result == n { replaced += 1 }
    if (n + 1) * 10 / rounds > sizes.count {
      settle()
      sizes.append(residentKilobytes())
    }
  }
  func end() {
    settle()
    let grown = zip(sizes.dropFirst(), sizes).map { String($0 - $1) }.joined(separator: " ")
    print("\(name) swapped \(swapped) replaced \(replaced) live \(live) grown \(grown)")
  }
}
/// Runs `work` on a thread that ends with it.
func onThread(_ work: @escaping () -> Void) {
  let box = Unmanaged.passRetained(Work(run: work))
  var thread = pthread_t()
  pthread_create(&thread, nil, { box in
    // `onThread` alone starts threads here, and passes one reference on.
    Unmanaged<Work>.fromOpaque(box!).takeRetainedValue().run()
    return nil
  }, box.toOpaque())
  pthread_join(thread, nil)
}
private final class Work {
  let run: () -> Void
  init(run: @escaping () -> Void) { self.run = run }
}
@inline(never) func measure(_ name: String, _ rounds: Int, _ call: (Int) -> Int) -> Tally? {
  guard var tally = Tally(name, rounds) else { return nil }
  for n in 0..<rounds { tally.add(n, call(n)) }
  return tally
}
@inline(never) func kind(_ name: String, _ rounds: Int, _ call: (Int) -> Int) {
  // What callers may have borrowed is let go when no frame of theirs is left.
  withoutActuallyEscaping(call) { call in
    nonisolated(unsafe) var tally: Tally?
    onThread { tally = measure(name, rounds, call) }
    tally?.end()
  }
}
@inline(never) func kindLater(_ name: String, _ rounds: Int) async {
  guard var tally = Tally(name, rounds) else { return }
  for n in 0..<rounds { tally.add(n, await later(Large(n), Large(n + 1)).id) }
  tally.end()
}

@main struct Main {
  static func main() async {
    let rounds = Int(CommandLine.arguments[1])!
    kind("int", rounds) { int($0, $0 + 1) }
    kind("double", rounds) { Int(double(Double($0), Double($0 + 1))) }
    kind("string", rounds) { number(string("text number \($0)", "text number \($0 + 1)")) }
    kind("object", rounds) { object(Item($0), Item($0 + 1)).id }
    kind("optional", rounds) { optional(Item($0), Item($0 + 1))!.id }
    kind("words", rounds) { words(Words($0), Words($0 + 1)).id }
    kind("large", rounds) { large(Large($0), Large($0 + 1)).id }
    kind("optionalLarge", rounds) { optionalLarge(Large($0), Large($0 + 1))!.id }
    kind("choice", rounds) { choice(Choice($0), Choice($0 + 1)).id }
    kind("chain", rounds) { chain(Chain($0), Chain($0 + 1)).id }
    kind("tuple", rounds) { tuple((Item($0), "a text with its own memory \($0)"), (Item($0 + 1), "another text with its own memory")).0.id }
    kind("tupleInMemory", rounds) { tupleInMemory(($0, Large($0)), ($0 + 1, Large($0 + 1))).1.id }
    kind("array", rounds) { array([Item($0)], [Item($0 + 1)])[0].id }
    kind("dictionary", rounds) { dictionary(["n": $0], ["n": $0 + 1])["n"]! }
    kind("set", rounds) { set([$0], [$0 + 1]).first! }
    kind("existential", rounds) { existential(Large($0), Item($0 + 1)).id }
    kind("anything", rounds) { number(anything(Large($0), Words($0 + 1))) }
    kind("error", rounds) { (error(Large($0), Large($0 + 1)) as! Large).id }
    kind("closure", rounds) { n in
      let (a, b) = (Item(n), Item(n + 1))
      return closure({ a.id }, { b.id })()
    }
    kind("consumed", rounds) { consumed(Words($0), Words($0 + 1)).id }
    kind("consumedLarge", rounds) { consumedLarge(Large($0), Large($0 + 1)).id }
    kind("variable", rounds) { n in
      var (a, b) = (Words(n), Words(n + 1))
      return variable(&a, &b).id
    }
    kind("generic", rounds) { generic(Large($0), Large($0 + 1)).id }
    kind("throwing", rounds) { n in
      do { return try throwing(Large(n), Large(n + 1)).id } catch { return (error as! Large).id }
    }
    kind("throwingTyped", rounds) { n in
      do throws(Large) { return try throwingTyped(Large(n), Large(n + 1)).id } catch { return error.id - 1 }  // the second, which was swapped in
    }
    await kindLater("later", rounds)
  }
}
