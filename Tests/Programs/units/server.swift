// A program like a server: four threads call its functions all the time; what they answer is checked as commands on stdin say. After some calls
// a thread rests for 200 µs, or as many as SERVER_PAUSE says.
//
//     expect LOW HIGH   every answer of `answer(_:)` from now on is in LOW..<HIGH
//     report            prints "calls N wrong M first F thrown T descriptors D"
//     crowd N           N more threads call `answer(_:)` and `sell(_:)`, instead of as many as did before
//     hold LIBRARY      a thread takes the lock of stdout and opens the library, whose constructor prints
//     handle PATH       installs a signal handler, then makes the file
//     end               ends
import Glibc
import Synchronization

public struct SoldOut: Error {}

public struct Till {
  public init() {}
  @inline(never) @_optimize(none) public func sell(_ n: Int) throws -> Int {
    if n < 0 { throw SoldOut() }
    return n
  }
}

public struct Shop {
  public init() {}
  /// 0, unless somebody has another opinion.
  @inline(never) @_optimize(none) public func answer(_ n: Int) -> Int { n &- n }
  @inline(never) @_optimize(none) public func price(_ n: Int) -> Int { n }
  @inline(never) @_optimize(none) public func name(_ n: Int) -> String { "item \(n)" }
  @inline(never) @_optimize(none) public func tax(_ n: Double) -> Double { n * 0.2 }
  @inline(never) @_optimize(none) public func stock(_ n: Int) -> Bool { n > 0 }
}

public final class Cart {
  public var items = 0
  public init() {}
  @inline(never) @_optimize(none) public func add(_ n: Int) { items &+= n }
}

public struct Safe {
  public init() {}
  @inline(never) @_optimize(none) public func open(_ n: Int) -> Int { n ^ 1 }
}

// Values of all kinds, for consoles to show.
public enum Mood { case calm, loud(Int) }
public struct Place {
  public var street: String
  public var number: Int?
}
public final class Person {
  public var name: String
  public var password = "sesame"
  public var place = Place(street: "Elm", number: 4)
  public var mood = Mood.loud(7)
  public var friend: Person?
  public var numbers = Array(1...100_000)
  public var counts = ["tea": 3]
  public var tags: Set<String> = ["new"]
  public init(_ name: String) { self.name = name }
  /// Shows that somebody ran it.
  @inline(never) @_optimize(none) public var greeting: String {
    print("computed")
    return "hello"
  }
  @inline(never) @_optimize(none) public func greet(_ other: Person) { friend = other }
}

let pause = getenv("SERVER_PAUSE").flatMap { UInt32(String(cString: $0)) } ?? 200
let low = Atomic<Int>(.min), high = Atomic<Int>(.max)
let calls = Atomic<Int>(0), wrong = Atomic<Int>(0), firstWrong = Atomic<Int>(0)
let sink = Atomic<Int>(0), thrown = Atomic<Int>(0)

func work() {
  let cart = Cart()
  let shop = Shop()
  let safe = Safe()
  let till = Till()
  var n = 0
  while true {
    n &+= 1
    let least = low.load(ordering: .sequentiallyConsistent), most = high.load(ordering: .sequentiallyConsistent)
    let answer = shop.answer(n)
    let isSame = least == low.load(ordering: .sequentiallyConsistent) && most == high.load(ordering: .sequentiallyConsistent)
    if isSame, answer < least || answer >= most, wrong.add(1, ordering: .relaxed).oldValue == 0 { firstWrong.store(answer, ordering: .relaxed) }
    do { sink.store(try till.sell(n), ordering: .relaxed) } catch { thrown.add(1, ordering: .relaxed) }
    cart.add(shop.price(safe.open(n)))
    let text = shop.name(n)
    let more = shop.stock(text.utf8.count) ? Int(shop.tax(2)) : 0
    sink.store(more, ordering: .relaxed)
    calls.add(1, ordering: .relaxed)
    if n % 16 == 0 { usleep(pause) }
  }
}

let crowd = Atomic<Int>(0)

/// More threads than can be in a patch within the time that a call waits for it.
func come(_ count: Int) {
  crowd.store(count, ordering: .relaxed)
  for place in 0..<count {
    let pointer = UnsafeMutableRawPointer(bitPattern: place + 1)
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { place in
        let shop = Shop(), till = Till()
        while Int(bitPattern: place) <= crowd.load(ordering: .relaxed) {
          sink.store(shop.answer(1), ordering: .relaxed)
          do { sink.store(try till.sell(1), ordering: .relaxed) } catch { thrown.add(1, ordering: .relaxed) }
          usleep(200)
        }
        return nil
      }, pointer)
  }
}

for _ in 0..<4 {
  var thread = pthread_t()
  pthread_create(&thread, nil, { _ in work(); return nil }, nil)
}

/// Its constructor runs while the thread has the locks of stdout and of the loader.
func hold(_ library: String) {
  let path = strdup(library)
  var thread = pthread_t()
  pthread_create(
    &thread, nil,
    { path in
      flockfile(stdout)
      _ = dlopen(path!.assumingMemoryBound(to: CChar.self), RTLD_NOW)
      funlockfile(stdout)
      return nil
    }, path)
}

func openDescriptors() -> [Int32] { (0..<100).filter { fcntl($0, F_GETFD) >= 0 } }

// Numbers that somebody could close by mistake.
for _ in 0..<40 { _ = open("/dev/null", O_RDONLY) }
setvbuf(stdout, nil, Int32(_IOLBF), 0)
print("descriptors \(openDescriptors().count)")
while let line = readLine() {
  let words = line.split(separator: " ")
  switch words.first {
  case "expect":
    low.store(Int(words[1])!, ordering: .sequentiallyConsistent)
    high.store(Int(words[2])!, ordering: .sequentiallyConsistent)
    print("expecting")
  case "report":
    print(
      "calls \(calls.load(ordering: .relaxed)) wrong \(wrong.load(ordering: .relaxed)) first \(firstWrong.load(ordering: .relaxed)) thrown \(thrown.load(ordering: .relaxed)) descriptors \(openDescriptors().count)"
    )
  case "crowd":
    come(Int(words[1])!)
    print("crowd")
  case "hold": hold(String(words[1]))
  case "handle":
    signal(SIGUSR2) { _ in }
    close(creat(String(words[1]), 0o600))
  case "end": exit(0)
  default: print("what?")
  }
}
