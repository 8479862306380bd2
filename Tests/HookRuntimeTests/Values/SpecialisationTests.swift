import HookRuntime
import SwiftMangling
import Testing

/// What a specialisation returns directly is known only where all of it is; `Swift.Mirror` goes by address outside its library.
@Suite("results of specialisations")
struct ValuesSpecialisationTests {
  private func plan(_ name: String) throws -> CallPlan {
    var parser = SymbolParser()
    let declaration = parser.declaration(name)
    return CallPlanner().plan(try #require(declaration))
  }

  private func isUnknown(_ location: Location) -> Bool { if case .unknown = location { true } else { false } }

  // M.same<A>(_: A, _: Int) -> A, specialised for Swift.Mirror
  @Test("where others compile it, a type that may change goes by address") func outside() throws {
    let plan = try plan("$s1M4sameyxx_SitlFs6MirrorV_Tg5")
    #expect(plan.result.location == .address(.indirectResult))
    #expect(plan.arguments[0].location == .address(.integer(0)))
  }

  @Test("in its library's own domain nothing tells how it is passed, nor how it comes back") func inside() throws {
    let plan = try plan("$s1M4sameyxx_SitlFs6MirrorV_TB5")
    #expect(isUnknown(plan.result.location))
    #expect(plan.arguments.allSatisfy { isUnknown($0.location) })
  }

  // M.count<A>(_: A, _: Int) -> Int
  @Test("a result that never went by address is returned as ever") func direct() throws {
    let plan = try plan("$s1M5countySix_SitlFs6MirrorV_TB5")
    #expect(!isUnknown(plan.result.location))
    #expect(isUnknown(plan.arguments[1].location))
  }

  @Test("types that are frozen are decoded there as well") func frozen() throws {
    let plan = try plan("$s1M4sameyxx_SitlFSS_TB5")
    #expect(!isUnknown(plan.result.location) && plan.result.location != .address(.indirectResult))
    #expect(plan.arguments.allSatisfy { !isUnknown($0.location) })
  }
}
