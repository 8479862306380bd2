// Open classes of Foundation, inherited from at run time, and used by Foundation itself.
import Foundation
import FoundationNetworking
import FoundationXML
import HookRuntime

/// Gives XMLParserDelegate's requirements their names: every program that parses has such a type.
final class Quiet: NSObject, XMLParserDelegate {
  var names: [String] = []
  func parser(_ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?, attributes: [String: String]) {
    names.append(name)
  }
  func parserDidEndDocument(_ parser: XMLParser) { names.append(".") }
}

/// NSObject: equality, hash and description, as Foundation's containers ask for them.
func objects() throws {
  let type = try DefinedClass("App.Box", inheriting: NSObject.self) { type in
    type.property("value", 0)
    type.override("isEqual(_:)") { call in
      let other = call.argument(0, as: Any?.self) ?? nil
      call.setResult(to: boxes!.value("value", of: call.object!, as: Int.self) == (other as? NSObject).flatMap { boxes!.value("value", of: $0, as: Int.self) })
    }
    type.override("hash.get") { call in call.setResult(to: boxes!.value("value", of: call.object!, as: Int.self)!) }
    type.override("description.get") { call in call.setResult(to: "box \(boxes!.value("value", of: call.object!, as: Int.self)!)") }
  }
  boxes = type
  func box(_ value: Int) throws -> NSObject {
    let made: NSObject = try type.make()
    type.set("value", of: made, to: value)
    return made
  }
  let (one, same, two) = (try box(1), try box(1), try box(2))
  check(one == same, true, "NSObject: == runs the override")
  check(one == two, false, "NSObject: == tells others apart")
  check("\(one)", "box 1", "NSObject: description")
  let list = NSArray(array: [two, one])
  check(list.index(of: same), 1, "NSArray finds it by the override")
  check(NSSet(array: [one, same, two]).count, 2, "NSSet counts by the overrides of hash and isEqual")
  check(NSStringFromClass(type.type), "App.Box", "NSStringFromClass")
  check(NSClassFromString("App.Box") == type.type, true, "NSClassFromString")
}
nonisolated(unsafe) var boxes: DefinedClass?

/// Formatter: what Foundation calls from another of its methods.
func formatters() throws {
  let type = try DefinedClass("App.Loud", inheriting: Formatter.self) { type in
    type.override("string(for:)") { call in call.setResult(to: Optional("<\(call.argument(0, as: Any.self)!)>")) }
  }
  let formatter: Formatter = try type.make()
  check(formatter.string(for: 7), "<7>", "Formatter: an override")
  check(formatter.editingString(for: "x"), "<x>", "Formatter: Foundation calls it")
  check((formatter as AnyObject) is Formatter, true, "Formatter: it is one")
}

/// InputStream and XMLParserDelegate: Foundation's parser reads from a stream and tells a delegate, both made here.
func parsing() throws {
  let text = Array("<shop><cart id=\"1\"/><cart id=\"2\"/></shop>".utf8)
  let type = try DefinedClass("App.WordStream", inheriting: InputStream.self) { type in
    type.property("at", 0)
    type.override("open()") { _ in }
    type.override("close()") { _ in }
    type.override("hasBytesAvailable.get") { call in
      call.setResult(to: streams!.value("at", of: call.object!, as: Int.self)! < text.count)
    }
    type.override("read(_:maxLength:)") { call in
      let at = streams!.value("at", of: call.object!, as: Int.self)!
      let count = min(7, text.count - at, call.argument(1, as: Int.self)!)
      call.argument(0, as: UnsafeMutablePointer<UInt8>.self)!.update(from: Array(text[at..<at + count]), count: count)
      streams!.set("at", of: call.object!, to: at + count)
      call.setResult(to: count)
    }
  }
  streams = type
  nonisolated(unsafe) var seen: [String] = []
  let delegate = try ProtocolImplementation(of: "FoundationXML.XMLParserDelegate") {
    $0.on("parser(_:didStartElement:namespaceURI:qualifiedName:attributes:)") { call in
      seen.append(call.argument(1, as: String.self)! + "\(call.argument(4, as: [String: String].self)!["id"] ?? "")")
    }
    $0.on("parserDidEndDocument(_:)") { _ in seen.append("end") }
  }
  let parser = XMLParser(stream: try type.make("init(data:)", Data()) as InputStream)
  parser.delegate = delegate.as((any XMLParserDelegate).self)
  check(parser.parse(), true, "XMLParser reads a stream made at run time")
  check(seen, ["shop", "cart1", "cart2", "end"], "and tells a delegate made at run time")
  check(parser.delegate === delegate.object, true, "which is its delegate")

  let watch = try DelegateWatch("FoundationXML.XMLParser.delegate") { call in
    if call.requirement.hasPrefix("parserDid") { seen.append(call.requirement) }
  }
  seen = []
  let quiet = Quiet()
  let watched = XMLParser(data: Data(text))
  watched.delegate = quiet
  check(watched.delegate === quiet, true, "a watched XMLParser gives its delegate back")
  check(watched.parse(), true, "and parses")
  check(seen, ["parserDidStartDocument(_:)", "parserDidEndDocument(_:)"], "calls on its delegate are seen, those it leaves to a default, too")
  check(quiet.names, ["shop", "cart", "cart", "."], "and reach it")
  watch.remove()
}
nonisolated(unsafe) var streams: DefinedClass?

/// URLProtocol: a session asks the class, makes an instance of it, and gets its answer.
func loading() throws {
  let type = try DefinedClass("App.CannedProtocol", inheriting: URLProtocol.self) { type in
    type.override("static canInit(with: URLRequest) -> Bool") { call in
      call.setResult(to: call.argument(0, as: URLRequest.self)?.url?.scheme == "canned")
    }
    type.override("static canInit(with: URLSessionTask) -> Bool") { call in
      call.setResult(to: call.argument(0, as: URLSessionTask.self)?.originalRequest?.url?.scheme == "canned")
    }
    type.override("static canonicalRequest(for:)") { call in call.setResult(to: call.argument(0, as: URLRequest.self)!) }
    type.override("startLoading()") { call in
      let loader = call.object as! URLProtocol
      let url = loader.request.url!
      let body = Data("answer to \(url.host ?? "")".utf8)
      let response = HTTPURLResponse(url: url, statusCode: 203, httpVersion: "HTTP/1.1", headerFields: ["X-From": "canned"])!
      loader.client?.urlProtocol(loader, didReceive: response, cacheStoragePolicy: .notAllowed)
      loader.client?.urlProtocol(loader, didLoad: body)
      loader.client?.urlProtocolDidFinishLoading(loader)
    }
    type.override("stopLoading()") { _ in }
  }
  let configuration = URLSessionConfiguration.ephemeral
  configuration.protocolClasses = [type.type]
  let session = URLSession(configuration: configuration)
  let done = DispatchSemaphore(value: 0)
  nonisolated(unsafe) var answer = ""
  session.dataTask(with: URL(string: "canned://host/path")!) { data, response, error in
    let response = response as? HTTPURLResponse
    answer = "\(response?.statusCode ?? 0) \(response?.value(forHTTPHeaderField: "X-From") ?? "") \(String(decoding: data ?? Data(), as: UTF8.self))"
    if let error { answer = "\(error)" }
    done.signal()
  }.resume()
  check(done.wait(timeout: .now() + 20) == .success, true, "URLSession comes back")
  check(answer, "203 canned answer to host", "URLSession loads by a protocol class made at run time")
}

for part in [objects, formatters, parsing, loading] {
  do { try part() } catch { print("WRONG   \(error)") }
}
