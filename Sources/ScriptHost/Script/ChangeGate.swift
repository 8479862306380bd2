// ChangeGate — what a session of the console may change in the program, and the record of what it did.
//
// A patch has no gate; where there is a policy it has rights (PatchRights). Every function of a script that changes the program, or runs
// code of it, asks `Environment.refusal` first.
private import Glibc
internal import Journal
private import Synchronization

/// Any thread.
final class ChangeGate: Sendable {
  private let allows: Bool
  private let session: String
  private let client: ControlPeer?
  private let log: HostLog
  private let count = Atomic<Int>(0)

  /// - Parameter client: who has the session; nil: this process.
  init(allows: Bool, session: String, client: ControlPeer?, log: HostLog) {
    self.allows = allows
    self.session = session
    self.client = client
    self.log = log
  }

  /// How many changes were made.
  var changes: Int { count.load(ordering: .relaxed) }

  /// Why it may not be; nil when it may, and is in the journal then.
  func refusal(_ act: String, _ subject: String) -> String? {
    guard allows else { return "this session only reads, and \(act) changes the program or runs code of it; attach with --write" }
    count.add(1, ordering: .relaxed)
    record("console change") { fields in
      fields.add("act", act)
      fields.add("subject", subject)
    }
    return nil
  }

  /// Records an act of the session, and whose it is.
  func record(_ act: FieldName, _ fill: (inout FieldWriter) -> Void = { _ in }) {
    log.append(.audit, act) { fields in
      fields.add("session", session)
      fill(&fields)
      fields.add("user", UInt64(client?.user ?? geteuid()))
      fields.add("process", Int64(client?.process ?? getpid()))
      fields.add("allowed", true)
    }
  }
}

extension Environment {
  /// Why the script may not do this; nil for patches without a policy always. What a session does is in the journal then.
  @inline(__always)
  func refusal(_ act: StaticString, _ subject: @autoclosure () -> String = "", of type: @autoclosure () -> String? = nil) -> String? {
    if gate == nil, rights == nil { return nil }
    return refusal("\(act)", subject(), type())
  }

  @inline(never)
  private func refusal(_ act: String, _ subject: String, _ type: String?) -> String? {
    if let rights {
      if let why = Capability(act: act).flatMap({ rights.refusal($0) }) { return "\(act) is refused: \(why)" }
      if act == "a call" || act == "a watch of delegates", let why = rights.refusal(selector: subject, of: type) { return why }
    }
    return gate?.refusal(act, subject)
  }
}
