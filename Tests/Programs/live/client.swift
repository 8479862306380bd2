// A program of Foundation's objects, several of each class, that says how often it did what to which.
import Foundation
import FoundationXML

@inline(never) func steps(_ progress: Progress, _ count: Int) { for step in 1...count { progress.completedUnitCount = Int64(step) } }
@inline(never) func fill(_ dictionary: NSMutableDictionary, _ count: Int) { for key in 0..<count { dictionary.setObject(key, forKey: "key \(key)" as NSString) } }
@inline(never) func guarded(_ lock: NSLock, _ count: Int) -> Int {
  var sum = 0
  for number in 0..<count {
    lock.lock()
    sum += number
    lock.unlock()
  }
  return sum
}
@inline(never) func name(_ node: XMLNode, _ count: Int) { for number in 0..<count { node.name = "name\(number)" } }

let progresses = [Progress(totalUnitCount: 10), Progress(totalUnitCount: 20), Progress(totalUnitCount: 30)]
for (index, progress) in progresses.enumerated() { steps(progress, 3 + index) }
print(progresses.map { "\($0.completedUnitCount) of \($0.totalUnitCount): \($0.fractionCompleted)" })

let dictionaries = [NSMutableDictionary(), NSMutableDictionary()]
fill(dictionaries[0], 5)
fill(dictionaries[1], 7)
print(dictionaries.map(\.count), dictionaries[1].object(forKey: "key 6") ?? "nil")

let locks = [NSLock(), NSLock()]
locks[1].name = "second"
print(guarded(locks[0], 11), guarded(locks[1], 13))

let element = XMLElement(name: "shop"), attribute = XMLNode.attribute(withName: "id", stringValue: "1") as! XMLNode
let document = XMLDocument(rootElement: element)
element.addAttribute(attribute)
for number in 0..<4 { element.addChild(XMLElement(name: "cart", stringValue: "\(number)")) }
name(element, 2)
name(attribute, 3)
print(document.xmlString)

let queue = OperationQueue()
queue.maxConcurrentOperationCount = 1
queue.name = "work"
nonisolated(unsafe) var done = 0
for _ in 0..<6 { queue.addOperation { done += 1 } }
queue.waitUntilAllOperationsAreFinished()
queue.maxConcurrentOperationCount = 3
print(done, queue.maxConcurrentOperationCount, queue.name ?? "nil")

let formatter = NumberFormatter()
formatter.maximumFractionDigits = 1
let dates = DateFormatter()
dates.timeZone = TimeZone(identifier: "UTC")
dates.locale = Locale(identifier: "en_US_POSIX")
dates.dateFormat = "yyyy-MM-dd"
print(formatter.string(from: 1.25) ?? "nil", dates.string(from: Date(timeIntervalSince1970: 0)))
for _ in 0..<3 { print(formatter.editingString(for: 2.5) ?? "nil") }
for _ in 0..<2 { print(dates.editingString(for: Date(timeIntervalSince1970: 86400)) ?? "nil") }

@inline(never) func finish() { print("finished") }
finish()
