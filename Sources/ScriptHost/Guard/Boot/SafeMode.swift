// SafeMode — what is taken out after starts that failed, and how it comes back: a pure state machine.
//
//   failed starts   what happens at the next start
//   1               nothing: it may have been chance; a patch whose text or handler was running when it crashed is retired, and one whose
//                   handler had changed something of the program on the crashed thread
//   2               the suspected patch is retired, without a suspect the newest that was loaded; registered caches are cleared
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

/// The patches whose text ran in a start, as their files were.
package struct RanPatches: Equatable, Sendable {
  package var all: Set<PatchStamp> = []
  /// Those of them that were loaded, and there when the process ended: one that was refused is not to blame for what came later.
  package var live: Set<PatchStamp> = []

  package init(all: Set<PatchStamp> = [], live: Set<PatchStamp> = []) { (self.all, self.live) = (all, live) }

  fileprivate func newest(of source: String) -> PatchStamp? { all.filter { $0.isOf(source) }.newest }
}

extension Collection<PatchStamp> {
  /// What was changed last.
  fileprivate var newest: PatchStamp? { self.max { ($0.changed, $0.path) < ($1.changed, $1.path) } }
}

/// How a start ended.
package enum BootEnd: Equatable, Sendable {
  /// Long enough after the start, or as the program wanted.
  case good
  /// The file name of the patch at work in the crash, if one was.
  /// - ran: nil where that is not known.
  case failed(suspect: String?, _ blame: Blame = .unsure, ran: RanPatches? = nil)

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
  /// Whom the last failed start is attributed to.
  package var suspect: String?
  /// The next plan retires it, however many starts failed. Never kept: ends and the plan belong to one change of the file.
  private(set) var condemned: Condemned?
  struct Condemned: Equatable, Sendable { let patch: String, reason: Reason }
  /// Of the last failed start; nil: not known, and any patch may be to blame as it is now. Never kept, as `condemned`.
  private var ran: RanPatches?
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
    case .failed(let suspect, let blame, let ran):
      if let tried = trial, suspect.map(tried.isOf) ?? ran?.live.contains(tried) ?? true {
        // All others are known to be good, and it was there.
        retired[tried] = .trial
        trial = nil
        return
      }
      trial = nil
      failures += 1
      self.ran = ran
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
    spareChanged { present.contains($0) }
    if let condemned, let found = blamed ?? patches.first(where: { $0.isOf(condemned.patch) }), present.contains(found), !waiting.contains(found) {
      retired[found] = condemned.reason
      // Who is to blame is known: the newest one is not retired beside it.
      if failures == Self.retiresAt { actedAt = failures }
    }
    condemned = nil
    defer { ran = nil }
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

  /// What was changed since the failed start, or removed, is another text: the next start tries it, and takes out no other in its place.
  mutating func spareChanged(_ isThere: (PatchStamp) -> Bool) {
    guard failures < Self.emptiesAt, let blamed, !isThere(blamed) else { return }
    condemned = nil
    if failures == Self.retiresAt { actedAt = failures }
  }

  /// Which of the patches that ran in the last failed start the next one takes out; nil: none, or it is not known which ran.
  var blamed: PatchStamp? {
    guard let ran else { return nil }
    if let condemned { return ran.newest(of: condemned.patch) }
    guard failures == Self.retiresAt, actedAt != failures else { return nil }
    return suspect.flatMap(ran.newest) ?? ran.live.newest
  }

  /// None of those that ran can be to blame: the next start takes none out for being the newest.
  var blamesNone: Bool { ran != nil && blamed == nil }

  private mutating func retire(among loaded: [PatchStamp]) {
    let suspected = suspect.flatMap { suspect in loaded.first { $0.isOf(suspect) } }
    guard let found = ran == nil ? suspected ?? loaded.newest : blamed, loaded.contains(found) else { return }
    retired[found] = suspect.map(found.isOf) == true ? .suspect : .newest
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
