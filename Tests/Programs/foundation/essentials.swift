import FoundationEssentials
import Glibc
print("Module FoundationEssentials only")
setenv("TZ", CommandLine.arguments.count > 1 ? CommandLine.arguments[1] : "Europe/Berlin", 1)
let tz = TimeZone.current
print(tz.identifier, tz.secondsFromGMT(for: Date(timeIntervalSince1970: 1_700_000_000)), tz.secondsFromGMT(for: Date(timeIntervalSince1970: 1_690_000_000)), tz.isDaylightSavingTime(for: Date(timeIntervalSince1970: 1_690_000_000)))
for id in ["Europe/Berlin", "America/New_York", "UTC", "GMT+3", "Asia/Kolkata", "Nowhere/Land", "CEST", "PST"] {
  if let z = TimeZone(identifier: id) { print(id, z.identifier, z.secondsFromGMT(for: Date(timeIntervalSince1970: 1_690_000_000)), z.abbreviation(for: Date(timeIntervalSince1970: 1_690_000_000)) ?? "-", z.daylightSavingTimeOffset(for: Date(timeIntervalSince1970: 1_690_000_000))) } else { print(id, "none") }
  print(TimeZone(abbreviation: id)?.identifier ?? "no abbreviation")
}
print(Locale.current.identifier, Locale.current.decimalSeparator ?? "-", Locale.current.currency?.identifier ?? "-")
for id in ["de_DE", "en_US", "ar_EG", "ja_JP", "", "xx_YY"] { let l = Locale(identifier: id); print(id, l.identifier, l.decimalSeparator ?? "-", l.groupingSeparator ?? "-", l.measurementSystem.identifier, l.firstDayOfWeek) }
let text = "Größe 日本 \u{1F600} ß\u{301}"
for e in [String.Encoding.utf8, .utf16, .utf16LittleEndian, .utf16BigEndian, .utf32, .ascii, .isoLatin1, .isoLatin2, .windowsCP1252, .macOSRoman, .shiftJIS, .japaneseEUC, .nonLossyASCII] {
  print(e.rawValue, text.data(using: e).map { "\(Array($0))" } ?? "nil", "Größe".data(using: e).map { "\(Array($0))" } ?? "nil", text.data(using: e, allowLossyConversion: true).map { "\(Array($0))" } ?? "nil")
  print(String(data: Data([0x47, 0xf6, 0xdf, 0x65]), encoding: e) ?? "nil", String(bytes: [0x82, 0xa0], encoding: e) ?? "nil")
}
for s in ["https://user:pw@example.com:8080/a/b/../c?q=1&r=%20#f", "http://例え.jp/パス?q=ü", "file:///tmp/a b", "mailto:x@y", "", "a b", "http://[::1]/", "//host/p", "http://bücher.example/"] {
  if let u = URL(string: s) { print(s, u.absoluteString, u.scheme ?? "-", u.host() ?? "-", u.port ?? 0, u.path(), u.query() ?? "-", u.fragment() ?? "-", u.standardized.absoluteString) } else { print(s, "nil") }
}
if let u = URL(string: "http://bücher.example/ü") { print(u.host(percentEncoded: false) ?? "-", u.absoluteString) }
print(URL(fileURLWithPath: "rel/ä").path, URL(filePath: "/tmp/../etc").standardizedFileURL.path)
var cal = Calendar(identifier: .gregorian); cal.timeZone = TimeZone(identifier: "America/New_York") ?? .gmt
let d = Date(timeIntervalSince1970: 1_690_000_000)
print(cal.dateComponents([.year, .month, .day, .hour, .weekday, .weekOfYear], from: d), Calendar.current.identifier, cal.firstWeekday, cal.minimumDaysInFirstWeek)
for c in [Calendar.Identifier.gregorian, .iso8601] { print(c, Calendar(identifier: c).component(.year, from: d), Calendar(identifier: c).locale?.identifier ?? "-") }
print(d.formatted(.iso8601), d.ISO8601Format(), d.description, "straße".uppercased(), "İ".lowercased(), "ä" < "b", ["b", "A", "ä"].sorted())
print("a b".split(separator: " "), Decimal(string: "1.25") ?? 0, Double("1,5") ?? -1, "x".utf8.count, Data([1, 2, 3]).base64EncodedString())
print(ProcessInfo.processInfo.processName, ProcessInfo.processInfo.arguments.count, ProcessInfo.processInfo.operatingSystemVersionString, FileManager.default.currentDirectoryPath.isEmpty, UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")!)
struct P: Codable { var a = 1.5; var s = "ü"; var d = Date(timeIntervalSince1970: 1.25) }
print(String(decoding: try JSONEncoder().encode([P()]), as: UTF8.self).count, try PropertyListEncoder().encode(P()).count)
let fd = open("/proc/self/maps", O_RDONLY); var bytes: [UInt8] = []; var buffer = [UInt8](repeating: 0, count: 65536)
while true { let n = read(fd, &buffer, buffer.count); if n <= 0 { break }; bytes += buffer[..<n] }
var libraries: Set<String> = []
for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") { if let s = line.lastIndex(of: "/"), line.hasSuffix(".so") { libraries.insert(String(line[line.index(after: s)...])) } }
var err = "mapped:" + libraries.filter { $0.contains("oundation") }.sorted().map { " " + $0 }.joined() + "\n"
write(2, err, err.utf8.count)
