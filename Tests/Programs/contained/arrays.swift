// Traps while arrays, dictionaries and Data are changed in place: what the library has taken apart must not be left, the rest must be whole.
import Foundation

nonisolated(unsafe) var alive = 0
final class Item: Comparable {
  let number: Int
  unowned let shelf: Shelf
  init(_ number: Int, _ shelf: Shelf) { self.number = number; self.shelf = shelf; alive += 1 }
  deinit { alive -= 1 }
  static func == (a: Item, b: Item) -> Bool { a === b }
  static func < (a: Item, b: Item) -> Bool { a.shelf.count(); return a.number < b.number }
}

struct Row {
  var items: [Item] = []
  var number = 0
  /// In a function of its own, which begins no access.
  @inline(never) mutating func fill(_ shelf: Shelf) { items.insert(contentsOf: (0..<40).lazy.map { shelf.count(); return Item($0, shelf) }, at: 3) }
  @inline(never) mutating func bump(_ shelf: Shelf) { number += 1; shelf.left = 1; shelf.count() }
  /// Sorts a copy, while it is being changed itself.
  @inline(never) mutating func rank(_ shelf: Shelf) { number += items.sorted { shelf.count(); return $0.number < $1.number }.count }
}

public final class Shelf {
  var left = 0
  var lines = [1, 2, 3]
  var items: [Item] = []
  var slim: ContiguousArray<Item> = []
  var cut: ArraySlice<Item> = []
  var rows: [Row] = []
  var numbers: [Int] = []
  var words: [String] = []
  var prices: [String: [Int]] = [:]
  var bytes = Data((0..<100).map { UInt8($0) })
  public init() { restock(shared: false) }

  /// The arrays are of the same objects, in the same storage or each in its own.
  func restock(shared: Bool) {
    left = 0
    items = (0..<120).map { Item($0 &* 37 % 120, self) }
    slim = ContiguousArray(shared ? items : items.map { $0 })
    cut = (shared ? items : items.map { $0 })[10...]
    rows = [Row(items: shared ? items : items.map { $0 }), Row(items: Array(items[0..<50]))]
    numbers = (0..<120).map { $0 &* 37 % 120 }
    words = numbers.map { "the word with number \($0)" }
    prices = ["a": [1], "b": [2], "c": [3]]
    bytes = Data((0..<100).map { UInt8($0) })
  }
  /// Nothing is missing, doubled or garbage.
  func isWhole() -> Bool {
    let all = [items, Array(slim), Array(cut)] + rows.map(\.items)
    return all.allSatisfy { Set($0.map { ObjectIdentifier($0) }).count == $0.count && $0.allSatisfy { $0.number >= 0 && $0.shelf === self } }
      && Set(numbers).count == numbers.count && Set(words).count == words.count && bytes.count >= 100 && prices.count >= 3
  }
  func clear() {
    items = []; slim = []; cut = []; rows = []
  }

  /// Traps when it has been called as often as `left` says.
  @inline(never) func count() {
    left -= 1
    if left == 0 { _ = lines[1000 &+ Int(getppid() & 0)] }
  }
  func less(_ a: Item, _ b: Item) -> Bool { count(); return a.number < b.number }

  // What takes apart what it changes.
  /// Its name is part of those of the copies that are made for it.
  @inline(never) func sortedInPlaceNow() { items.sort { less($0, $1) } }
  @inline(never) func compare() { items.sort() }
  @inline(never) func sortSlim() { slim.sort { less($0, $1) } }
  @inline(never) func sortCut() { cut.sort { less($0, $1) } }
  @inline(never) func sortRow(_ n: Int) { rows[n].items.sort { less($0, $1) } }
  @inline(never) func sortNumbers() { numbers.sort { count(); return $0 < $1 } }
  @inline(never) func sortWords() { words.sort { count(); return $0 < $1 } }
  @inline(never) func insert() { items.insert(contentsOf: (0..<40).lazy.map { self.count(); return Item($0, self) }, at: 5) }
  @inline(never) func insertHere() {  // nothing is called where it traps
    items.insert(contentsOf: (0..<40).lazy.map { [lines, left] n in
      if n == left { _ = lines[1000 &+ n] }
      return Item(n, self)
    }, at: 5)
  }
  @inline(never) func replace() { slim.replaceSubrange(3..<7, with: (0..<40).lazy.map { self.count(); return Item($0, self) }) }
  @inline(never) func fillRow(_ n: Int) { rows[n].fill(self) }
  @inline(never) func merge() { prices.merge(["a": [4], "b": [5], "c": [6]]) { count(); return $0 + $1 } }
  @inline(never) func setByte(_ n: Int) { bytes[n] = 1 }
  @inline(never) func replaceBytes(_ n: Int) { bytes.replaceSubrange(n..<n + 2, with: [1, 2]) }
  @inline(never) func touchBytes() { bytes.withUnsafeMutableBytes { (all: UnsafeMutableRawBufferPointer) in count(); all[0] = 1 } }

  // What does not.
  @inline(never) func index(_ n: Int) { items[n] = items[0] }
  @inline(never) func remove(_ n: Int) { items.remove(at: n) }
  @inline(never) func removeTwo(_ n: Int) { items.remove(at: 2); items.remove(at: n) }
  @inline(never) func swap(_ n: Int) { items.swapAt(0, n) }
  @inline(never) func rangeless(_ n: Int) { items.replaceSubrange(n..<n + 2, with: [items[0]]) }
  @inline(never) func map() -> Int { items.map { count(); return $0.number }.count }
  @inline(never) func each() { items.forEach { _ in count() } }
  @inline(never) func filter() -> Int { items.filter { count(); return $0.number > 3 }.count }
  @inline(never) func reduce() -> Int { items.reduce(0) { count(); return $0 + $1.number } }
  @inline(never) func sorted() -> Int { items.sorted { less($0, $1) }.count }
  @inline(never) func first() -> Item? { items.first { count(); return $0.number > 500 } }
  @inline(never) func copy() -> Int {
    var mine = items
    mine.sort { less($0, $1) }
    return mine.count
  }
  @inline(never) func append() { items.append(contentsOf: (0..<40).lazy.map { self.count(); return Item($0, self) }) }
  @inline(never) func partition() -> Int { items.partition { count(); return $0.number > 50 } }
  @inline(never) func removeSome() { items.removeAll { count(); return $0.number % 2 == 0 } }
  @inline(never) func point() -> Int { items.withUnsafeMutableBufferPointer { left = 1; count(); return $0.count } }
  @inline(never) func bump(_ n: Int) { rows[n].bump(self) }
  @inline(never) func rank(_ n: Int) { rows[n].rank(self) }
  @inline(never) func readByte(_ n: Int) -> Int { Int(bytes[n]) }

  @inline(never) public func change(_ kind: String, _ at: Int) -> Int {
    left = at
    let beyond = 1000 &+ Int(getppid() & 0)
    switch kind {
    case "sort": sortedInPlaceNow()
    case "compare": compare()
    case "sortSlim": sortSlim()
    case "sortCut": sortCut()
    case "sortRow": sortRow(1)
    case "sortNumbers": sortNumbers()
    case "sortWords": sortWords()
    case "insert": insert()
    case "insertHere": insertHere()
    case "replace": replace()
    case "fillRow": fillRow(1)
    case "merge": merge()
    case "setByte": setByte(beyond)
    case "replaceBytes": replaceBytes(beyond)
    case "touchBytes": touchBytes()
    case "index": index(beyond)
    case "remove": remove(beyond)
    case "removeTwo": removeTwo(beyond)
    case "swap": swap(beyond)
    case "rangeless": rangeless(beyond)
    case "map": return map()
    case "each": each()
    case "filter": return filter()
    case "reduce": return reduce()
    case "sorted": return sorted()
    case "first": return first() == nil ? 0 : 1
    case "copy": return copy()
    case "append": append()
    case "partition": return partition()
    case "removeSome": removeSome()
    case "point": return point()
    case "bump": bump(1)
    case "rank": rank(1)
    case "readByte": return readByte(beyond)
    default: print("no such kind: \(kind)")
    }
    return 0
  }
}

public enum Clerk {
  nonisolated(unsafe) public static var shelf = Shelf()
  /// A hook's handler changes the shelf.
  @inline(never) public static func tick(_ shelf: Shelf, _ kind: String, _ at: Int) -> Int { shelf.left &+ at &+ kind.utf8.count }
}

// arrays DOOR KINDS AT ROUNDS [shared]: each kind so often, with traps from that count on.
let arguments = CommandLine.arguments
let shelf = Shelf()
let isShared = arguments.last == "shared"
var answered = 0, broken = 0
for kind in arguments[2].split(separator: ",").map(String.init) {
  for round in 0..<Int(arguments[4])! {
    let at = Int(arguments[3])! + round % 37
    shelf.restock(shared: isShared)
    let kept = isShared ? shelf.items : shelf.items.map { $0 }
    if arguments[1] == "script" { _ = Clerk.tick(shelf, kind, at) } else if shelf.change(kind, at) < 0 { answered += 1 }
    if !shelf.isWhole() { broken += 1; print("\(kind) leaves something broken at \(at)") }
    shelf.clear()
    // What is kept here is alive, whatever else was released.
    if alive < kept.count { broken += 1; print("\(kind) releases too much at \(at)") }
  }
}
print("answered \(answered), broken \(broken)")
