// Lifetimes — calls a few functions very often; prints how much memory the calls left behind, and who is still alive.
import Glibc

nonisolated(unsafe) var live = 0

public class Item {
  public let id: Int
  public var name: String
  @inline(never) public init(_ id: Int, name: String) {
    self.id = id
    self.name = name
    live += 1
  }
  deinit { live -= 1 }
  @inline(never) public func describe(_ prefix: String, _ other: Item, _ limit: Int?) -> String {
    prefix + "/" + other.name + (limit == nil ? "" : "!")
  }
  public var title: String {
    @inline(never) get { name + " and a tail that does not fit" }
    @inline(never) set { name = newValue }
  }
  @inline(never) public func pick(_ a: Item, _ b: Item?) throws -> Item? {
    if a.id % 3 == 0 { throw Problem(text: "a problem with \(a.id) that has a long text") }
    return b
  }
  public subscript(key: String) -> String {
    @inline(never) get { key + name }
    @inline(never) set { name = key + newValue }
  }
}
public struct Problem: Error { var text: String }

@inline(never) func residentKilobytes() -> Int {
  let file = fopen("/proc/self/statm", "r")!
  defer { fclose(file) }
  var size = 0, resident = 0
  _ = withUnsafeMutablePointer(to: &size) { size in
    withUnsafeMutablePointer(to: &resident) { resident in withVaList([size, resident]) { vfscanf(file, "%ld %ld", $0) } }
  }
  return resident * 4
}

@inline(never) func round(_ n: Int) -> Int {
  let a = Item(n, name: "first of two items, number \(n)")
  let b = Item(n + 1, name: "second of two items, number \(n)")
  var sum = a.describe("prefix that is rather long \(n)", b, n).utf8.count
  a.title = "a new title for number \(n)"
  sum += a.title.utf8.count
  a["the key of number \(n)"] = "the value of number \(n)"
  sum += a["the other key of number \(n)"].utf8.count
  do { sum += try a.pick(a, b)?.id ?? 0 } catch { sum += 1 }
  return sum
}

@main struct Main {
  static func main() {
    let rounds = Int(CommandLine.arguments[1])!
    var sum = 0
    for n in 0..<rounds / 4 { sum &+= round(n) }
    let before = residentKilobytes()
    for n in rounds / 4..<rounds { sum &+= round(n) }
    print("sum \(sum) live \(live) grown \(residentKilobytes() - before)")
  }
}
