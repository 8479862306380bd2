// Objects that have ended, and functions that belong on the main thread.
import Dispatch
import Foundation

final class Session {
  var name: String
  var number = 3
  init(_ name: String) { self.name = name }
  @inline(never) func total(_ more: Int) -> Int { number + more }
  @inline(never) func title() -> String { name }
  @inline(never) func close() { print("closed \(number)") }
  @inline(never) func twin() -> Session { self }
  deinit { print("end of \(title())") }
}

class Plain {
  var value = 1
  @inline(never) func hello() -> Int { value }
  deinit { sink += 1 }
}
final class HeirSession: Plain {
  var extra = "a"
  @inline(never) override func hello() -> Int { 2 + extra.utf8.count }
}

final class Window {
  var title = "none"
  @inline(never) func show(_ text: String, at place: Int) {
    title = text
    print("show \(text) at \(place)")
  }
  @inline(never) func height(_ scale: Int) -> Int { scale * 2 }
}

nonisolated(unsafe) var sink = 0
setvbuf(stdout, nil, _IOLBF, 0)

/// Uses objects after their end, as code does that keeps an address too long.
@inline(never) func zombies(releasing: Bool) {
  var session: Session? = Session("first \(CommandLine.arguments.count)")
  let old = Unmanaged.passUnretained(session!)
  weak let weakly = releasing ? nil : session
  print("alive \(session!.total(1)) \(session!.title())")
  session = nil
  print("weak \(weakly == nil)")
  old._withUnsafeGuaranteedRef {
    print("total \($0.total(5))")
    print("title '\($0.title())'")
    $0.close()
  }
  if releasing {
    old.release()
    old.release()
  }
  var heir: Plain? = HeirSession()
  let oldHeir = Unmanaged.passUnretained(heir!)
  print("heir \(heir!.hello())")
  heir = nil
  oldHeir._withUnsafeGuaranteedRef { print("heir \($0.hello())") }
}

/// Many that end as they should.
@inline(never) func many(_ count: Int) {
  var kept: [Plain] = []
  for index in 0..<count {
    kept.append(index % 2 == 0 ? Plain() : HeirSession())
    if kept.count > 7 { kept.removeFirst() }
    sink += kept[index % kept.count].hello()
  }
  kept = []
  print("many \(sink)")
}

let window = Window()
switch CommandLine.arguments[1] {
case "zombies":
  zombies(releasing: false)
case "released":
  zombies(releasing: true)
case "many":
  many(200_000)
  if let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) {
    FileHandle.standardError.write("pages \(text.split(separator: " ")[1])\n".data(using: .utf8)!)
  }
case "wait":
  // Mistakes of each kind, and then it waits until the input ends.
  zombies(releasing: false)
  let places = NSMutableArray(array: [1, 2])
  for index in 5...7 { places.removeObject(at: index) }
  let group = DispatchGroup()
  DispatchQueue.global().async(group: group) {
    for place in 1...2 { window.show("elsewhere", at: place) }
    print("height \(window.height(4))")
  }
  group.wait()
  print("ready")
  while readLine() != nil {}
case "main":
  window.show("own", at: 1)
  let group = DispatchGroup()
  DispatchQueue.global().async(group: group) {
    window.show("moved \(CommandLine.arguments.count)", at: 2)
    print("after")
    print("height \(window.height(4))")
  }
  group.wait()
  DispatchQueue.main.async {
    print("title \(window.title)")
    exit(0)
  }
  if CommandLine.arguments.count > 2 { dispatchMain() }
  RunLoop.main.run()
default: break
}
