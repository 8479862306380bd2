// Witnesses that differ in the function they go on to alone: the compiler merges them, and each passes its function's address.
protocol Source { var next: Int { get } }
protocol Readable { init(from source: any Source) throws }
struct Failure: Error {}
final class Counter: Source {
  var value = 0
  var next: Int { value += 1; return value }
}
struct First: Readable {
  var names: [String], total: Int, isOdd: Bool
  init(from source: any Source) throws {
    let number = source.next
    if number < 0 { throw Failure() }
    firsts += 1
    names = (0..<number % 5).map { "first \($0)" }
    total = names.reduce(0) { $0 + $1.utf8.count }
    isOdd = total % 2 == 1
  }
}
struct Second: Readable {
  var names: [String], total: Int, isOdd: Bool
  init(from source: any Source) throws {
    let number = source.next
    if number < 0 { throw Failure() }
    seconds += 1
    names = (0..<number % 7).map { "second \($0 * 2)" }
    total = names.reduce(1) { $0 * ($1.utf8.count + 1) & 0xffff }
    isOdd = names.count % 2 == 1
  }
}
nonisolated(unsafe) var firsts = 0, seconds = 0
@inline(never) func read(_ types: [any Readable.Type], _ source: any Source) throws -> Int {
  var sum = 0
  for type in types { sum += try String(describing: type.init(from: source)).utf8.count }
  return sum
}
var types: [any Readable.Type] = []
for index in 0..<30 { types.append(index % 3 == 0 ? First.self : Second.self) }
print(try read(types, Counter()))
print("COUNT First \(firsts)")
print("COUNT Second \(seconds)")
@inline(never) func finish() { print("COUNT end \(firsts + seconds)") }
finish()
