// Safe mode: the table of levels, the way back, and random sequences of ends against rules that must always hold.
import Testing

@testable import ScriptHost

struct SafeModeTests {
  static let a = PatchStamp(path: "/p/a.lua", changed: 10)
  static let b = PatchStamp(path: "/p/b.lua", changed: 20)

  @Test("each failed start leads to the next level")
  func levels() {
    var mode = SafeMode()
    var plans: [BootPlan] = []
    for _ in 0..<7 {
      plans.append(mode.plan([Self.a, Self.b]))
      mode.note(.failed(suspect: nil))
    }
    #expect(plans.map(\.out.count) == [0, 0, 1, 2, 2, 2, 0])
    #expect(plans[2].out == [Self.b])
    #expect(plans.map(\.clearsCaches) == [false, false, true, true, true, true, false])
    #expect(plans.map(\.clearsData) == [false, false, false, false, false, true, false])
  }

  @Test("the suspect goes first, the newest only without one")
  func suspects() {
    var mode = SafeMode()
    for _ in 0..<2 {
      _ = mode.plan([Self.a, Self.b])
      mode.note(.failed(suspect: "a.lua"))
    }
    #expect(mode.plan([Self.a, Self.b]).out == [Self.a])
    mode.note(.good)
    #expect(mode.plan([Self.a, Self.b]).out == [Self.a])
    let changed = PatchStamp(path: "/p/a.lua", changed: 30)
    #expect(mode.plan([changed, Self.b]).out == [])
  }

  /// Two starts that failed, with these patches.
  private func failedTwice(_ ran: RanPatches, suspect: String? = nil, _ blame: BootEnd.Blame = .unsure) -> SafeMode {
    var mode = SafeMode()
    for _ in 0..<2 {
      _ = mode.plan(Array(ran.all))
      mode.note(.failed(suspect: suspect, blame, ran: ran))
    }
    return mode
  }

  @Test("a patch that was changed since the failed start is tried again, and no other is out in its place")
  func changedSince() {
    let changed = PatchStamp(path: "/p/b.lua", changed: 30), both: Set = [Self.a, Self.b]
    let ran = RanPatches(all: both, live: both)
    var newest = failedTwice(ran)
    #expect(newest.planned().first == "the next start leaves out the newest patch '/p/b.lua' and clears: nothing, as no patch registered any")
    newest.spareChanged { $0 != Self.b }
    #expect(newest.planned() == ["the next start loads all patches, and clears: nothing, as no patch registered any"])
    newest = failedTwice(ran)
    #expect(newest.plan([Self.a, changed]).out == [])
    // One that was removed needs nobody in its place, either.
    newest = failedTwice(ran)
    #expect(newest.plan([Self.a]).out == [])
    // A patch with that text is out, and a failed start of the changed one counts on.
    newest = failedTwice(ran)
    #expect(newest.plan([Self.a, Self.b]).out == [Self.b])
    newest = failedTwice(ran)
    _ = newest.plan([Self.a, changed])
    newest.note(.failed(suspect: nil, ran: RanPatches(all: [Self.a, changed], live: [Self.a, changed])))
    #expect(newest.plan([Self.a, changed]).out == [Self.a, changed])

    var suspected = failedTwice(ran, suspect: "b.lua")
    #expect(suspected.plan([Self.a, changed]).out == [])
    suspected = failedTwice(ran, suspect: "a.lua")
    #expect(suspected.plan([Self.a, changed]).out == [Self.a])
    var condemned = SafeMode()
    condemned.note(.failed(suspect: "b.lua", .atWork, ran: ran))
    #expect(condemned.plan([Self.a, changed]).out == [])
    condemned.note(.failed(suspect: "b.lua", .atWork, ran: RanPatches(all: [Self.a, changed], live: [Self.a, changed])))
    #expect(condemned.plan([Self.a, changed]).out == [changed])
  }

  @Test("a patch that was refused is not the newest one")
  func refused() {
    let refused = PatchStamp(path: "/p/c.lua", changed: 40)
    var mode = failedTwice(RanPatches(all: [Self.a, Self.b, refused], live: [Self.a, Self.b]))
    #expect(mode.plan([Self.a, Self.b, refused]).out == [Self.b])
    // Nor is one to blame that was to come back and was refused.
    var trial = SafeMode()
    trial.failures = 3
    _ = trial.plan([Self.a, Self.b])
    trial.note(.good)
    _ = trial.plan([Self.a, Self.b])
    #expect(trial.trial == Self.a)
    trial.note(.failed(suspect: nil, ran: RanPatches(all: [Self.a], live: [])))
    #expect(trial.retired.isEmpty && trial.failures == 1)
    // Where none was live, none is out.
    mode = failedTwice(RanPatches(all: [refused], live: []))
    #expect(mode.planned().first == "the next start loads all patches, and clears: nothing, as no patch registered any")
    #expect(mode.plan([Self.a, Self.b, refused]).out == [])
  }

  @Test("who changed something before the crash is out after one start, and comes back where the program crashes by itself")
  func changed() {
    var mode = SafeMode()
    _ = mode.plan([Self.a, Self.b])
    mode.note(.failed(suspect: "a.lua", .changed))
    #expect(mode.planned().contains("'a.lua' is left out: it had changed something of the program before it crashed"))
    #expect(mode.plan([Self.a, Self.b]).out == [Self.a])
    #expect(mode.retired == [Self.a: .changed])
    #expect(SafeModeFile.decode(SafeModeFile.encode(mode)) == mode)
    for _ in 0..<5 {
      mode.note(.failed(suspect: nil))
      _ = mode.plan([Self.a, Self.b])
    }
    #expect(mode.plan([Self.a, Self.b]).out == [])
    // One that was at work stays out.
    mode.note(.failed(suspect: "a.lua", .atWork))
    _ = mode.plan([Self.a, Self.b])
    for _ in 0..<5 {
      mode.note(.failed(suspect: nil))
      _ = mode.plan([Self.a, Self.b])
    }
    #expect(mode.plan([Self.a, Self.b]).out == [Self.a])
  }

  @Test("after all were out they come back one by one; the bad one is retired")
  func wayBack() {
    var mode = SafeMode()
    mode.failures = 3
    #expect(mode.plan([Self.a, Self.b]).out == [Self.a, Self.b])
    mode.note(.good)
    #expect(mode.plan([Self.a, Self.b]).out == [Self.b])
    mode.note(.failed(suspect: nil))
    #expect(mode.retired == [Self.a: .trial])
    #expect(mode.plan([Self.a, Self.b]).out == [Self.a])
    mode.note(.good)
    #expect(mode.plan([Self.a, Self.b]).out == [Self.a])
  }

  @Test("the file holds what was written; a damaged one is one failed start")
  func file() {
    var mode = SafeMode()
    mode.failures = 4
    mode.suspect = "a b.lua"
    mode.retired = [Self.a: .suspect]
    mode.waiting = [Self.b]
    mode.trial = PatchStamp(path: "/p/with space.lua", changed: 3)
    let bytes = SafeModeFile.encode(mode)
    #expect(SafeModeFile.decode(bytes) == mode)
    for length in 0..<bytes.count { #expect(SafeModeFile.decode(Array(bytes[..<length])) == nil) }
    for place in bytes.indices {
      var other = bytes
      other[place] ^= 1
      #expect(SafeModeFile.decode(other) != mode)
    }
  }

  /// A program with one bad patch, or one that crashes by itself, or a good one.
  @Test("300 random sequences: a bad patch ends up out, good ones come back, a program's own crash disables nothing for ever")
  func random() {
    var seed: UInt64 = 17
    func next(_ below: Int) -> Int {
      seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(seed >> 33) % below
    }
    for round in 0..<300 {
      let patches = (0..<(1 + next(4))).map { PatchStamp(path: "/p/\($0).lua", changed: UInt64(next(100))) }
      let bad = next(3) == 0 ? nil : patches[next(patches.count)]
      let isAttributed = next(2) == 0
      let crashesItself = bad == nil && next(2) == 0
      var mode = SafeMode()
      var outs: [Set<PatchStamp>] = []
      for _ in 0..<30 {
        let plan = mode.plan(patches)
        outs.append(plan.out)
        #expect(Set(mode.retired.keys).isDisjoint(with: mode.waiting), "round \(round)")
        #expect(mode.trial.map { !plan.out.contains($0) } ?? true, "round \(round)")
        let fails = crashesItself || bad.map { !plan.out.contains($0) } ?? false
        let suspect = isAttributed ? bad.map { String($0.path.dropFirst(3)) } : nil
        mode.note(fails ? .failed(suspect: suspect) : .good)
        // Through the disk each time.
        mode = SafeModeFile.decode(SafeModeFile.encode(mode)) ?? SafeMode()
      }
      if let bad {
        #expect(outs.last?.contains(bad) == true, "round \(round)")
        if isAttributed { #expect(outs.last == [bad], "round \(round)") }
      } else {
        #expect(outs.contains([]), "round \(round)")
        if crashesItself { #expect(outs.suffix(7).contains([]), "round \(round)") } else { #expect(outs.last == [], "round \(round)") }
      }
    }
  }
}
