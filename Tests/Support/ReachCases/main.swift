// reach-cases — which calls hooks of each back end see, against what the explanation claimed beforehand. Prints one line for
// each kind of function, back end, module and way to call, and fails when a claim was more than happened.
//
//   KIND<tab>BACK END<tab>MODULE<tab>WAY<tab>CLAIM<tab>SEEN<tab>RAN      or CLAIM refused, with the code
import CHookTrampoline
import Glibc
import HookRuntime
import ReachKit
import Synchronization

TypeResolver.shared.findDescriptor = { TypeCatalog.shared.descriptor($0.description) }

/// Calls that the installed hook saw.
private let seen = Atomic<Int>(0)

private func spec() -> LayerSpec {
  LayerSpec(
    function: { _, _, _ in
      seen.wrappingAdd(1, ordering: .relaxed)
      return HKT_HANDLED
    }, context: nil, phases: UInt32(HKT_ON_ENTER), readsValues: false, owner: "reach")
}

private func wait(_ body: @escaping @Sendable () async -> Void) {
  let done = Atomic<Bool>(false)
  withUnsafePointer(to: done) { done in
    nonisolated(unsafe) let done = done  // outlives the task, which is waited for
    Task.detached {
      await body()
      done.pointee.store(true, ordering: .releasing)
    }
    while !done.pointee.load(ordering: .acquiring) { usleep(50) }
  }
}

/// The weakest of what is claimed for the functions that a selector means.
private func claim(_ reaches: [BackEndReach], _ way: CallWay) -> ReachClaim {
  let claims = reaches.map { $0.claims[way] ?? .none }
  if claims.allSatisfy({ $0 == .all }) { return .all }
  return claims.allSatisfy { $0 == ReachClaim.none } ? .none : .some
}

private var wrong = 0
private let modules = [("same module", sitesInside), ("other module", sitesOutside)]

for kind in kinds {
  guard case .success(let found) = SelectorLookup.resolve(kind.selector) else {
    print("\(kind.name)\t-\t-\t-\tgone\t0\t0")
    continue
  }
  let images = ProcessCatalog.shared.current()
  for backEnd in BackEnd.allCases where backEnd != .importSlot {
    // What the explanation says, before anything is installed.
    let reaches = found.map { image, family in Reach(family, in: image, among: images).all().first { $0.backEnd == backEnd }! }
    let possible = reaches.filter { $0.refusal == nil }
    let object = backEnd == .classSwitch ? kind.object() : nil
    let scope: HookScope = object.map { .object($0) } ?? .type
    let requests = found.map { HookRequest(image: $0, family: $1, scope: scope, backEnd: backEnd) }
    let report = HookEngine.shared.install(requests) { _ in spec() }
    if report.tokens.isEmpty {
      let code = report.refused.first?.reason.code ?? "none"
      print("\(kind.name)\t\(backEnd.rawValue)\t-\t-\trefused\t\(code)\t\(possible.isEmpty ? "as said" : "said possible")")
      if !possible.isEmpty { wrong += 1 }
      continue
    }
    if possible.isEmpty {
      print("\(kind.name)\t\(backEnd.rawValue)\t-\t-\tinstalled\t-\tsaid not possible")
      wrong += 1
    }
    for (module, all) in modules {
      for site in all where site.kind == kind.name {
        guard let way = CallWay(rawValue: site.way) else { fatalError("internal error: no way '\(site.way)'") }
        // A switched object is the one that is called on; other sites make their own.
        if backEnd == .classSwitch, way == .direct || way == .viaSuper { continue }
        let target = object ?? kind.object()
        let before = (seen.load(ordering: .relaxed), kind.ran())
        wait { for _ in 0..<3 { _ = await site.call(target) } }
        let count = seen.load(ordering: .relaxed) - before.0
        let ran = kind.ran() - before.1
        let claimed = claim(possible, way)
        print("\(kind.name)\t\(backEnd.rawValue)\t\(module)\t\(way.rawValue)\t\(claimed.rawValue)\t\(count)\t\(ran)")
        if claimed == .all && count != ran || claimed == ReachClaim.none && count != 0 || count > ran || ran == 0 {
          print("OVERCLAIMED")
          wrong += 1
        }
      }
    }
    for (token, _) in report.tokens { HookEngine.shared.remove(token) }
  }
}
print(wrong == 0 ? "every claim held" : "\(wrong) claims were wrong")
exit(wrong == 0 ? 0 : 1)
