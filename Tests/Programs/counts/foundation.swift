// A program that spends its time in Foundation: on one thread, with the same calls and output in every run.
import Foundation

struct Item: Codable, Hashable {
  var name: String
  var count: Int
  var price: Double
  var tags: [String]
  var when: Date
  var link: URL?
}

let items = (0..<4).map {
  Item(
    name: "Item \($0) ßé", count: $0, price: Double($0) * 1.25, tags: ["a", "b\($0)"], when: Date(timeIntervalSinceReferenceDate: Double($0) * 86_400.5),
    link: URL(string: "https://example.com/items/\($0)?q=x%20y#top"))
}

func coders() throws {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
  encoder.dateEncodingStrategy = .iso8601
  encoder.keyEncodingStrategy = .convertToSnakeCase
  let data = try encoder.encode(items)
  let decoder = JSONDecoder()
  decoder.dateDecodingStrategy = .iso8601
  decoder.keyDecodingStrategy = .convertFromSnakeCase
  print(data.count, try decoder.decode([Item].self, from: data).map(\.name))
  for format in [PropertyListSerialization.PropertyListFormat.xml, .binary] {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = format
    let data = try encoder.encode(items)
    print(data.count, try PropertyListDecoder().decode([Item].self, from: data) == items)
  }
  do { _ = try JSONDecoder().decode([Int].self, from: Data("[1, \"x\"]".utf8)) } catch DecodingError.typeMismatch(_, let context) {
    print(context.codingPath.map(\.stringValue))
  }
  let object = try JSONSerialization.jsonObject(with: data)
  print((object as? [[String: Any]])?.count ?? -1, try JSONSerialization.data(withJSONObject: object, options: [.sortedKeys]).count)
}

func texts() {
  let text = "The quick, brown fox; jumps over 13 lazy dogs."
  print(text.components(separatedBy: CharacterSet.punctuationCharacters), text.replacingOccurrences(of: "fox", with: "cat"))
  print(text.trimmingCharacters(in: CharacterSet(charactersIn: "T.")), text.capitalized, text.range(of: "brown") != nil)
  print(text.addingPercentEncoding(withAllowedCharacters: .urlHostAllowed) ?? "-", "%41b".removingPercentEncoding ?? "-")
  print(String(format: "%05d %.3f %@", 42, 3.14159, "x"), text.data(using: .utf16)?.count ?? 0)
  let scanner = Scanner(string: "12 apples, 3.5 pears")
  print(scanner.scanInt() ?? 0, scanner.scanUpToString(",") ?? "", scanner.scanString(",") ?? "", scanner.scanDouble() ?? 0)
  var attributed = AttributedString("plain and loud")
  if let range = attributed.range(of: "loud") { attributed[range].link = URL(string: "https://example.com") }
  print(attributed.runs.count, String(attributed.characters))
}

func dates() {
  var calendar = Calendar(identifier: .gregorian)
  calendar.timeZone = TimeZone(secondsFromGMT: 0)!
  let start = Date(timeIntervalSince1970: 1_700_000_000)
  let parts = calendar.dateComponents([.year, .month, .day, .hour, .weekday], from: start)
  print(parts.year ?? 0, parts.month ?? 0, parts.weekday ?? 0, calendar.isDate(start, inSameDayAs: start + 60))
  for step in 1...3 {
    let next = calendar.date(byAdding: .month, value: step, to: start)!
    print(next.formatted(.iso8601), calendar.range(of: .day, in: .month, for: next)?.count ?? 0)
  }
  print(calendar.startOfDay(for: start).timeIntervalSince1970, DateInterval(start: start, duration: 90).duration)
}

func collections() {
  var set = IndexSet(integersIn: 3..<9)
  set.remove(5)
  set.insert(integersIn: 20...22)
  print(set.count, set.rangeView.count, set.contains(21), set.map { $0 }.reduce(0, +))
  let array = NSMutableArray(array: ["one", 2, 3.5])
  array.add(NSNumber(value: true))
  let dictionary = NSMutableDictionary(dictionary: ["k": 1])
  dictionary["z"] = array
  print(array.count, array.index(of: 2), dictionary.count, dictionary.object(forKey: "k") ?? "-")
  let text = NSMutableString(string: "abc")
  text.append("def")
  text.insert("-", at: 3)
  print(text, text.length, text.uppercased, NSString(string: "/a/b/c.txt").deletingPathExtension)
  print(NSOrderedSet(array: [1, 2, 2, 3]).count, NSCountedSet(array: ["x", "x"]).count(for: "x"))
  let sorted = NSArray(array: [3, 1, 2]).sortedArray(comparator: { ($0 as! Int) < ($1 as! Int) ? .orderedAscending : .orderedDescending })
  print(sorted)
}

func numbers() {
  var sum = Decimal(string: "0.1")!
  for _ in 0..<5 { sum += Decimal(1) / Decimal(8) }
  print(sum, NSDecimalNumber(decimal: sum).doubleValue, NSNumber(value: 7).isEqual(to: NSNumber(value: 7.0)))
  let data = Data([1, 2, 3, 254, 255])
  print(data.base64EncodedString(), Data(base64Encoded: "AQID/v8=") == data, data.subdata(in: 1..<3).count, data.firstRange(of: Data([3])) ?? 0..<0)
  var bytes = Data(count: 4)
  bytes.replaceSubrange(1..<3, with: [9, 9, 9])
  bytes.append(contentsOf: [5])
  print(bytes.map { $0 }, UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")?.uuidString ?? "-")
  print(Measurement(value: 3, unit: UnitLength.kilometers).converted(to: .meters).value)
}

func places() throws {
  var parts = URLComponents(string: "https://user@example.com:8080/a/b?x=1&y=two#end")!
  parts.queryItems?.append(URLQueryItem(name: "z", value: "3 4"))
  print(parts.string ?? "-", parts.host ?? "-", parts.port ?? 0, parts.queryItems?.count ?? 0)
  let url = URL(fileURLWithPath: "/tmp/x/../y.tar.gz")
  print(url.lastPathComponent, url.pathExtension, url.standardized.path, url.deletingLastPathComponent().path, url.appendingPathComponent("q").path)
  let directory = FileManager.default.currentDirectoryPath
  print(directory.isEmpty, FileManager.default.fileExists(atPath: "/no/such/file"), (try? Data(contentsOf: URL(fileURLWithPath: "/no/such/file"))) == nil)
  let text = try String(contentsOfFile: CommandLine.arguments[1], encoding: .utf8)
  print(text.count, NSString(string: text).lines)
}

func others() {
  let center = NotificationCenter()
  nonisolated(unsafe) var seen = 0  // one thread
  let token = center.addObserver(forName: Notification.Name("n"), object: nil, queue: nil) { _ in seen += 1 }
  for _ in 0..<3 { center.post(name: Notification.Name("n"), object: nil) }
  center.removeObserver(token)
  print(seen)
  let progress = Progress(totalUnitCount: 4)
  progress.completedUnitCount = 3
  print(progress.fractionCompleted, NSRange(location: 1, length: 2).contains(2), NSError(domain: "d", code: 4).code)
  let cache = NSCache<NSString, NSNumber>()
  cache.setObject(1, forKey: "one")
  print(cache.object(forKey: "one") ?? 0, IndexPath(indexes: [1, 2]).count, CharacterSet.letters.contains("é"))
}

extension NSString {
  fileprivate var lines: Int { components(separatedBy: "\n").count }
}

try coders()
texts()
dates()
collections()
numbers()
try places()
others()
