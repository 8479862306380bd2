import Foundation
// Uses Foundation's own classes: files, notifications, numbers, dates.
final class Listener {
  var count = 0
  func start() -> NSObjectProtocol {
    NotificationCenter.default.addObserver(forName: Notification.Name("ping"), object: nil, queue: nil) { note in
      self.count += 1
      print("got", note.name.rawValue, note.userInfo?["n"] ?? "-")
    }
  }
}
let listener = Listener()
let token = listener.start()
for n in 1...3 { NotificationCenter.default.post(name: Notification.Name("ping"), object: nil, userInfo: ["n": n]) }
NotificationCenter.default.removeObserver(token)
NotificationCenter.default.post(name: Notification.Name("ping"), object: nil)
print("count", listener.count)
let path = CommandLine.arguments[1]
_ = FileManager.default.createFile(atPath: path, contents: nil)
let file = FileHandle(forWritingAtPath: path)!
file.write(Data("one\n".utf8))
try file.write(contentsOf: Data("two\n".utf8))
file.seekToEndOfFile()
print("at", file.offsetInFile)
file.closeFile()
let read = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
print(String(decoding: try read.readToEnd() ?? Data(), as: UTF8.self), terminator: "")
try read.close()
let formatter = NumberFormatter()
formatter.numberStyle = .decimal
formatter.locale = Locale(identifier: "de_DE")
print(formatter.string(from: 1234567.5) ?? "-")
let dates = DateFormatter()
dates.locale = Locale(identifier: "fr_FR"); dates.timeZone = TimeZone(identifier: "Asia/Tokyo"); dates.dateStyle = .full
print(dates.string(from: Date(timeIntervalSince1970: 0)))
let dictionary = NSMutableDictionary(); dictionary["a"] = 1; dictionary["b"] = NSArray(array: [1, "2"])
print(dictionary.count, dictionary["a"] ?? "-", try JSONSerialization.data(withJSONObject: ["k": [1, 2]]).count)
FileHandle.standardOutput.write(Data("end\n".utf8))
