// TransferHooks — the hooks by which tasks of URLSession are seen: all of them, or none.
//
// A task begins with `resume`, which every way of making one leads to, and ends where Foundation's own client of its protocols hears of it:
// that is in front of delegates, handlers and awaiting code alike. Between them Foundation gives libcurl one handle or several transfers.
private import CHookTrampoline
private import Glibc
internal import HookRuntime
private import Synchronization

enum TransferHooks {
  private static let needed: [(String, HKTLayerFunction)] = [
    ("FoundationNetworking.URLSessionTask.resume()", resumed),
    ("FoundationNetworking._NativeProtocol.startNewTransfer(with:)", transferPrepared),
    ("FoundationNetworking._NativeProtocol.transferCompleted(withError:)", transferEnded),
    ("FoundationNetworking._ProtocolClient.urlProtocolDidFinishLoading(_:)", finished),
    ("FoundationNetworking._ProtocolClient.urlProtocol(task:didFailWithError:)", failed),
    ("C.curl_multi_add_handle in libFoundationNetworking*", transferBegins),
    ("C.curl_easy_setopt in libFoundationNetworking*", optionSet),
  ]
  private static let installed = Mutex(false)

  /// More than once is once.
  /// - Returns: Why not all of them are there; then none is.
  static func install() -> [String] {
    installed.withLock { installed in
      if installed { return [] }
      var requests: [HookRequest] = []
      var layers: [FamilyName: HKTLayerFunction] = [:]
      for (selector, function) in needed {
        switch SelectorLookup.resolve(selector, suggesting: false) {
        case .failure: return ["network: '\(selector)' is not in the program; it does not use URLSession, or another release of Foundation"]
        case .success(let found):
          for (image, family) in found {
            requests.append(HookRequest(image: image, family: family, mayChoose: true))
            layers[FamilyName(family)] = function
          }
        }
      }
      let report = HookEngine.shared.install(requests, atomically: true) { family in
        LayerSpec(
          function: layers[FamilyName(family)]!, context: nil, phases: UInt32(HKT_ON_ENTER), readsValues: false, owner: "network",
          facts: WatchFacts(family.selector))
      }
      installed = report.refused.isEmpty
      return report.refused.map { "network: '\($0.0)' cannot be hooked, \($0.1); no request is recorded" }
    }
  }

  /// The task at an address.
  fileprivate static func task(_ address: UInt) -> NetworkTask { NetworkTask(address: address, number: field("taskIdentifier", of: address)) }

  /// A stored field of a Swift object that is one word; 0 when there is none.
  fileprivate static func field(_ name: String, of object: UInt) -> UInt {
    guard let place = UnsafeRawPointer(bitPattern: object) else { return 0 }
    let type = place.load(as: UInt.self)
    let offset = offsets.withLock { offsets -> Int in
      if let known = offsets[Key(type: type, name: name)] { return known }
      // The first word of an object of Swift is its class, which has fields.
      let fields = UnsafeRawPointer(bitPattern: type).map { Metadata($0).storedFields } ?? []
      let found = fields.first { $0.name == name }?.offset ?? 0
      offsets[Key(type: type, name: name)] = found
      return found
    }
    return offset == 0 ? 0 : place.load(fromByteOffset: offset, as: UInt.self)
  }
  private struct Key: Hashable { let type: UInt, name: String }
  private static let offsets = Mutex<[Key: Int]>([:])
}

// Arguments are where the calling convention has them: self in r13, others from rdi on, all of one word.

private let resumed: HKTLayerFunction = { call, _, _ in
  if let call, let frame = call.pointee.frame { NetworkWatch.shared.resumed(TransferHooks.task(UInt(frame.pointee.self_register)), in: call) }
  return HKT_HANDLED
}

private let transferBegins: HKTLayerFunction = { call, _, _ in
  if let frame = call?.pointee.frame { NetworkWatch.shared.transferBegan(handle: UInt(frame.pointee.integer.1)) }
  return HKT_HANDLED
}

private let optionSet: HKTLayerFunction = { call, _, _ in
  guard let frame = call?.pointee.frame, let value = UnsafeMutableRawPointer(bitPattern: UInt(frame.pointee.integer.2)) else { return HKT_HANDLED }
  let handle = UInt(frame.pointee.integer.0)
  switch frame.pointee.integer.1 & 0xffff_ffff {
  case 10_002: NetworkWatch.shared.urlSet(handle: handle, String(cString: value.assumingMemoryBound(to: CChar.self)))  // CURLOPT_URL
  case 10_036: NetworkWatch.shared.methodSet(handle: handle, String(cString: value.assumingMemoryBound(to: CChar.self)))  // CURLOPT_CUSTOMREQUEST
  case 10_023: NetworkWatch.shared.headersSet(handle: handle, value)  // CURLOPT_HTTPHEADER
  default: break
  }
  return HKT_HANDLED
}

private let transferPrepared: HKTLayerFunction = { call, _, _ in
  withTransfer(of: call) { NetworkWatch.shared.transferPrepared(task: $0, handle: $1) }
}

private let transferEnded: HKTLayerFunction = { call, _, _ in
  withTransfer(of: call) { NetworkWatch.shared.transferEnded(task: $0, handle: $1) }
}

/// The task and the handle of the transfer that a call is on.
private func withTransfer(of call: UnsafeMutablePointer<HKTCall>?, _ body: (_ task: UInt, _ handle: UInt) -> Void) -> HKTOutcome {
  guard let frame = call?.pointee.frame else { return HKT_HANDLED }
  let own = UInt(frame.pointee.self_register)
  body(TransferHooks.field("_task", of: own), TransferHooks.field("rawHandle", of: TransferHooks.field("easyHandle", of: own)))
  return HKT_HANDLED
}

private let finished: HKTLayerFunction = { call, _, _ in
  if let frame = call?.pointee.frame {
    NetworkWatch.shared.ended(TransferHooks.task(TransferHooks.field("_task", of: UInt(frame.pointee.integer.0))), error: nil)
  }
  return HKT_HANDLED
}

private let failed: HKTLayerFunction = { call, _, _ in
  guard let frame = call?.pointee.frame, let box = UnsafeRawPointer(bitPattern: UInt(frame.pointee.integer.1)) else { return HKT_HANDLED }
  // An error is one reference, borrowed from the caller for the call.
  let error = Unmanaged<AnyObject>.fromOpaque(box).retain()
  let text = withExtendedLifetime(unsafeBitCast(error, to: (any Error).self)) { "\($0._domain) \($0._code)" }
  NetworkWatch.shared.ended(TransferHooks.task(UInt(frame.pointee.integer.0)), error: text)
  return HKT_HANDLED
}
