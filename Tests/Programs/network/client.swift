// A program that uses Foundation as programs do: network, files, JSON, notifications, other processes.
//
//     client URL          URL of a local server that serves greeting.txt
//     client URL COUNT    COUNT requests, eight at a time, whose handlers hold an object each
import Foundation
import FoundationNetworking

struct Order: Codable, Equatable {
  var id: Int
  var item: String
  var prices: [Double]
}

final class Journal: @unchecked Sendable {
  private let lock = NSLock()
  private var lines: [String] = []
  func note(_ line: String) { lock.withLock { lines.append(line) } }
  func flush() { lock.withLock { for line in lines { print(line) }; lines = [] } }
}
let journal = Journal()

func describe(_ data: Data?, _ response: URLResponse?, _ error: (any Error)?) -> String {
  let status = (response as? HTTPURLResponse).map { "\($0.statusCode)" } ?? "-"
  let text = data.map { String(decoding: $0, as: UTF8.self) } ?? "-"
  return "\(status) \(text.prefix(40)) \(error == nil ? "ok" : "failed")"
}

func fetch(_ url: URL, on session: URLSession) {
  let done = DispatchSemaphore(value: 0)
  let task = session.dataTask(with: url) { data, response, error in
    journal.note("handler: " + describe(data, response, error))
    done.signal()
  }
  task.resume()
  done.wait()
}

func fetchAsync(_ url: URL, on session: URLSession) async {
  do {
    let (data, response) = try await session.data(from: url)
    journal.note("async: " + describe(data, response, nil))
  } catch {
    journal.note("async: failed")
  }
}

/// Values of Foundation, through functions of the program.
@inline(never) func schedule(_ date: Date, at url: URL, with payload: Data, as id: UUID, for amount: Decimal) -> String {
  "\(date.timeIntervalSince1970) \(url.absoluteString) \(payload.count) \(id.uuidString) \(amount)"
}
@inline(never) func deadline(after date: Date) -> Date { date.addingTimeInterval(60) }
@inline(never) func double(_ amount: Decimal) -> Decimal { amount * 2 }
@inline(never) func child(of url: URL) -> URL { url.appendingPathComponent("child") }
@inline(never) func reversed(_ data: Data) -> Data { Data(data.reversed()) }
@inline(never) func same(_ id: UUID) -> UUID { id }

func files() throws {
  let path = NSTemporaryDirectory() + "client-\(getpid()).txt"
  _ = FileManager.default.createFile(atPath: path, contents: nil)
  let handle = FileHandle(forWritingAtPath: path)!
  handle.write(Data("first line\n".utf8))
  handle.write(Data("second line\n".utf8))
  try handle.close()
  journal.note("file: " + (try String(contentsOfFile: path, encoding: .utf8)).replacingOccurrences(of: "\n", with: "/"))
  try FileManager.default.removeItem(atPath: path)
}

func json() throws {
  let encoder = JSONEncoder()
  encoder.outputFormatting = [.sortedKeys]
  let data = try encoder.encode(Order(id: 7, item: "tea", prices: [1.5, 2.25]))
  journal.note("json: " + String(decoding: data, as: UTF8.self))
  let back = try JSONDecoder().decode(Order.self, from: data)
  journal.note("back: \(back == Order(id: 7, item: "tea", prices: [1.5, 2.25]))")
}

func notifications() {
  let center = NotificationCenter.default
  let name = Notification.Name("OrderPlaced")
  let token = center.addObserver(forName: name, object: nil, queue: nil) { notification in
    journal.note("observed: \(notification.name.rawValue) \(notification.userInfo?["id"] ?? "-")")
  }
  center.post(name: name, object: nil, userInfo: ["id": 7])
  center.removeObserver(token)
  center.post(name: name, object: nil)
}

func processes() throws {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: "/bin/echo")
  process.arguments = ["from", "a", "child"]
  let pipe = Pipe()
  process.standardOutput = pipe
  try process.run()
  let output = pipe.fileHandleForReading.readDataToEndOfFile()
  process.waitUntilExit()
  journal.note("process: \(process.terminationStatus) " + String(decoding: output, as: UTF8.self).trimmingCharacters(in: .newlines))
}

func values() {
  let date = Date(timeIntervalSince1970: 1_700_000_000.5)
  let url = URL(string: "https://example.org/a?b=c")!
  let id = UUID(uuidString: "01234567-89AB-CDEF-0123-456789ABCDEF")!
  let amount = Decimal(string: "12.345")!
  journal.note("values: " + schedule(date, at: url, with: Data([1, 2, 3]), as: id, for: amount))
  journal.note("deadline: \(deadline(after: date).timeIntervalSince1970)")
  journal.note("double: \(double(amount))")
  journal.note("child: \(child(of: url))")
  journal.note("reversed: \(Array(reversed(Data([1, 2, 3]))))")
  journal.note("same: \(same(id))")
}

/// What a handler holds, and who lives.
final class Ticket: @unchecked Sendable {
  private static let lock = NSLock()
  nonisolated(unsafe) private static var living = 0
  static var alive: Int { lock.withLock { living } }
  init() { Self.lock.withLock { Self.living += 1 } }
  deinit { Self.lock.withLock { Self.living -= 1 } }
}

final class Tally: @unchecked Sendable {
  private let lock = NSLock()
  private var good = 0
  private var elsewhere = 0
  func count(_ isGood: Bool, onOtherThread: Bool) { lock.withLock { good += isGood ? 1 : 0; elsewhere += onOtherThread ? 1 : 0 } }
  var counts: (good: Int, elsewhere: Int) { lock.withLock { (good, elsewhere) } }
}

func crowd(_ url: URL, _ count: Int, on session: URLSession) async throws {
  let tally = Tally()
  let places = DispatchSemaphore(value: 8)
  let done = DispatchGroup()
  let own = pthread_self()
  func wait() { for _ in 0..<count {
    places.wait()
    done.enter()
    let ticket = Ticket()
    session.dataTask(with: url) { data, response, error in
      withExtendedLifetime(ticket) { tally.count(describe(data, response, error) == "200 hello from the server ok", onOtherThread: pthread_equal(pthread_self(), own) == 0) }
      places.signal()
      done.leave()
    }.resume()
  }; done.wait() }
  wait()
  // The session lets a task go after its handler has ended.
  for _ in 0..<20 where Ticket.alive > 0 { try await Task.sleep(nanoseconds: 50_000_000) }
  print("requests \(count) good \(tally.counts.good) elsewhere \(tally.counts.elsewhere) alive \(Ticket.alive)")
}

@main struct Client {
  static func main() async throws {
    let base = URL(string: CommandLine.arguments[1])!
    let session = URLSession(configuration: .ephemeral)
    if CommandLine.arguments.count > 2 { return try await crowd(base.appendingPathComponent("greeting.txt"), Int(CommandLine.arguments[2])!, on: session) }
    fetch(base.appendingPathComponent("greeting.txt"), on: session)
    fetch(base.appendingPathComponent("missing.txt"), on: session)
    await fetchAsync(base.appendingPathComponent("greeting.txt"), on: session)
    fetch(URL(string: "http://127.0.0.1:1/refused")!, on: session)
    try files()
    try json()
    notifications()
    try processes()
    values()
    journal.flush()
  }
}
