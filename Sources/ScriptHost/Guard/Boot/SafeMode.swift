// SafeMode — what is taken out after starts that failed, and how it comes back: a pure state machine.
//
//   failed starts   what happens at the next start
//   1               nothing: it may have been chance; a patch whose text or handler was running when it crashed is retired, and one whose
//                   handler had changed something of the program on the crashed thread
//   2               the suspected patch is retired, without a suspect the newest; registered caches are cleared
//   3 and 4         no patch is loaded
//   5               registered data is cleared, too
//   6               the crash is the program's own: what was taken out without being suspected comes back, counting starts anew
//
// A good end sets the count to 0. Patches that were out without being retired come back one by one, a start each; one whose trial
// fails is retired. Invariants: a patch is in one of `retired` and `waiting` at most; `trial` is in neither.

/// One patch file as it is: a changed file is another one.
package struct PatchStamp: Hashable, Sendable {
  package let path: String
  /// Time of the last change, ns since 1970.
  package let changed: UInt64

  package init(path: String, changed: UInt64) {
    self.path = path
    self.changed = changed
  }

  /// - Parameter source: a patch as positions and records name it.
  func isOf(_ source: String) -> Bool { path == source || path.hasSuffix("/" + source) }
}

/// How a start ended.
package enum BootEnd: Equatable, Sendable {
  /// Long enough after the start, or as the program wanted.
  case good
  /// The file name of the patch at work in the crash, if one was.
  case failed(suspect: String?, _ blame: Blame = .unsure)

  /// What speaks against the suspect.
  package enum Blame: Sendable {
    /// It is on the stack, or ran last.
    case unsure
    /// A handler of its had changed something of the program on the crashed thread, and was over.
    case changed
    /// Its own text or handler was running, so that nothing else is to blame.
    case atWork
  }
}

/// What a start does.
package struct BootPlan: Equatable, Sendable {
  /// Patches that are not loaded.
  package var out: Set<PatchStamp> = []
  package var clearsCaches = false
  package var clearsData = false
}

package struct SafeMode: Equatable, Sendable {
  /// Why a patch is out until it is changed.
  package enum Reason: String, Sendable { case suspect, changed, newest, trial }

  /// Starts that failed, one after another.
  package var failures = 0
  package var retired: [PatchStamp: Reason] = [:]
  /// Out with all others, to be tried one by one.
  package var waiting: [PatchStamp] = []
  /// Came back with the start that runs.
  package var trial: PatchStamp?
  /// Of the last failed start.
  package var suspect: String?
  /// The next plan retires it, however many starts failed. Never kept: ends and the plan belong to one change of the file.
  private(set) var condemned: Condemned?
  struct Condemned: Equatable, Sendable { let patch: String, reason: Reason }
  /// The count of failed starts for which a patch was retired: starts whose end says nothing retire no second one.
  package var actedAt = 0
  /// Absolute paths that patches registered, to be cleared.
  package var caches: [String] = []
  package var data: [String] = []

  /// No start failed lately, and nothing is out.
  var isCalm: Bool { failures == 0 && retired.isEmpty && waiting.isEmpty && trial == nil }

  package static let retiresAt = 2, emptiesAt = 3, clearsDataAt = 5

  package init() {}

  /// Takes note of the end of a start.
  package mutating func note(_ end: BootEnd) {
    switch end {
    case .good:
      failures = 0
      actedAt = 0
      suspect = nil
      trial = nil
    case .failed(let suspect, let blame):
      if let tried = trial, suspect == nil || tried.path.hasSuffix("/" + suspect!) || tried.path == suspect! {
        // All others are known to be good.
        retired[tried] = .trial
        trial = nil
        return
      }
      trial = nil
      failures += 1
      self.suspect = suspect ?? self.suspect
      if let suspect, blame != .unsure { condemned = Condemned(patch: suspect, reason: blame == .atWork ? .suspect : .changed) }
    }
  }

  /// What the next start does with these patches.
  package mutating func plan(_ patches: [PatchStamp]) -> BootPlan {
    let present = Set(patches)
    keep { present.contains($0) }
    if failures > Self.clearsDataAt { giveUp() }
    var plan = BootPlan()
    if let condemned, let found = patches.first(where: { $0.isOf(condemned.patch) && !waiting.contains($0) }) {
      retired[found] = condemned.reason
      // Who is to blame is known: the newest one is not retired beside it.
      if failures == Self.retiresAt { actedAt = failures }
    }
    condemned = nil
    let loaded = patches.filter { retired[$0] == nil && !waiting.contains($0) }
    if failures >= Self.emptiesAt {
      waiting += loaded
      plan.clearsCaches = true
      plan.clearsData = failures >= Self.clearsDataAt
    } else if failures == Self.retiresAt {
      if actedAt != failures { retire(among: loaded) }
      actedAt = failures
      plan.clearsCaches = true
    } else if failures == 0, trial == nil, !waiting.isEmpty {
      trial = waiting.removeFirst()
    }
    plan.out = Set(retired.keys).union(waiting)
    return plan
  }

  /// Forgets patches that are not as they were.
  mutating func keep(_ isThere: (PatchStamp) -> Bool) {
    retired = retired.filter { isThere($0.key) }
    waiting.removeAll { !isThere($0) }
  }

  private mutating func retire(among loaded: [PatchStamp]) {
    if let suspect, let found = loaded.first(where: { $0.isOf(suspect) }) {
      retired[found] = .suspect
    } else if let newest = loaded.max(by: { ($0.changed, $0.path) < ($1.changed, $1.path) }) {
      retired[newest] = .newest
    }
  }

  /// Everything was out and it crashed all the same.
  mutating func giveUp() {
    failures = 0
    actedAt = 0
    suspect = nil
    waiting = []
    retired = retired.filter { $0.value == .suspect }
  }
}
