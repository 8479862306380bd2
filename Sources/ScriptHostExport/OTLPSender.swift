// OTLPSender — OTLP over HTTP with protobuf bodies, by the protocol's rules for retries
// (opentelemetry.io/docs/specs/otlp, "OTLP/HTTP Response").
internal import Exporters
internal import Foundation
#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

struct OTLPSender {
  private let address: String
  private let headers: [(String, String)]
  private let session: URLSession
  /// Records the collector said it does not want.
  private(set) var refused = 0
  private var isDownReported = false

  /// Attempts of a run that ends; one that follows tries for ever.
  private static let mostAttempts = 6
  private static let longestPause = 30.0

  /// - Parameters:
  ///   - address: of the collector, without the service's path: "http://127.0.0.1:4318".
  ///   - headers: "name=value,name=value", as OTEL_EXPORTER_OTLP_HEADERS has them.
  init(address: String, headers: String) {
    self.address = address.hasSuffix("/") ? String(address.dropLast()) : address
    self.headers = headers.split(separator: ",").compactMap { pair in
      pair.firstIndex(of: "=").map { (String(pair[..<$0]).trimmingCharacters(in: .whitespaces), String(pair[pair.index(after: $0)...])) }
    }
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = 10
    session = URLSession(configuration: configuration)
  }

  private enum Answer {
    case taken
    case refused(String)
    /// Try again, not before so many seconds when the collector said so.
    case again(String, after: Double?)
  }

  /// Sends until the collector took or refused it. Answers how many records it took.
  mutating func send(_ body: OTLPBody, keepsTrying: Bool) throws -> Int {
    var pause = 1.0
    var attempt = 1
    while true {
      switch try post(body) {
      case .taken:
        if isDownReported { ExportJob.say("the collector answers again") }
        isDownReported = false
        return body.count
      case .refused(let why):
        refused += body.count
        ExportJob.say("the collector refused \(body.count) records for \(body.path): \(why)")
        return 0
      case .again(let why, let after):
        guard keepsTrying || attempt < Self.mostAttempts else {
          throw ExportJob.Failure(sentence: "cannot send to '\(address)': \(why); nothing is lost, run the export again")
        }
        if !isDownReported { ExportJob.say("cannot send to '\(address)' now: \(why); trying again") }
        isDownReported = true
        // Half of the pause is drawn, so that many sidecars do not come at once.
        Thread.sleep(forTimeInterval: after ?? pause * Double.random(in: 0.5...1))
        pause = min(pause * 2, Self.longestPause)
        attempt += 1
      }
    }
  }

  private func post(_ body: OTLPBody) throws -> Answer {
    guard let url = URL(string: address + body.path) else { throw ExportJob.Failure(sentence: "'\(address)' is no URL") }
    var request = URLRequest(url: url)
    request.httpMethod = "POST"
    request.setValue("application/x-protobuf", forHTTPHeaderField: "Content-Type")
    for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
    request.httpBody = Data(body.bytes)
    let done = DispatchSemaphore(value: 0)
    let answer = Box<Answer>(.again("no answer", after: nil))
    session.dataTask(with: request) { _, response, error in
      defer { done.signal() }
      guard let response = response as? HTTPURLResponse else {
        answer.value = .again(error?.localizedDescription ?? "no answer", after: nil)
        return
      }
      switch response.statusCode {
      case 200..<300: answer.value = .taken
      case 429, 502, 503, 504:
        let after = response.value(forHTTPHeaderField: "Retry-After").flatMap { Double($0) }
        answer.value = .again("status \(response.statusCode)", after: after.map { min(max($0, 0), 300) })
      default: answer.value = .refused("status \(response.statusCode)")
      }
    }.resume()
    done.wait()
    return answer.value
  }

  /// Written by the task's handler before it signals, read after that.
  private final class Box<Value>: @unchecked Sendable {
    var value: Value
    init(_ value: Value) { self.value = value }
  }
}
