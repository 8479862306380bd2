import HookRuntime
import SwiftMangling
import Testing

/// What code does not show is not there to read, and may be consumed all the same.
@Suite("arguments without evidence")
struct ValuesEvidenceTests {
  /// A body that everybody could call, and of whose registers nothing is known but what is said here.
  private final class Evidence: BodyEvidence {
    let unused: Bool
    init(unused: Bool) { self.unused = unused }
    var keptBecause: String? { "other object files could call it" }
    func taken(_ places: Places) -> Places { .nothing }
    func isCertainlyUnused(_ places: Places) -> Bool { unused }
    func used(_ places: Places) -> Places { .nothing }
    var error: ErrorEvidence { .unknown }
    func given(_ places: Places) -> Places { .nothing }
    func arePassed(_ places: Places) -> Bool { false }
    var onlyReturns: Bool { false }
    func selfUse(of object: Places, results: OwnedResults?) -> SelfUse { .unknown }
    func entryBytes(ofVariableAt register: Places) -> EntryBytes? { nil }
    var mayHaveCloseCallers: Bool { true }
    var isExported: Bool { true }
  }

  private func plan(_ name: String, unused: Bool) throws -> CallPlan {
    var parser = SymbolParser()
    let declaration = parser.declaration(name)
    return CallPlanner().plan(try #require(declaration), evidence: Evidence(unused: unused))
  }

  // M.f(_: __owned Swift.String) -> ()
  @Test("an owned argument that is not shown to be passed may be consumed") func maybe() throws {
    let plan = try plan("$s1M1fyySSnF", unused: false)
    #expect(plan.arguments[0].location == .optimizedOut)
    #expect(plan.arguments[0].isConsumed && plan.consumesArguments)
    #expect(!plan.arguments[0].isReplaceable)
  }

  @Test("an owned argument that the body certainly does not take is not") func never() throws {
    let plan = try plan("$s1M1fyySSnF", unused: true)
    #expect(plan.arguments[0].location == .optimizedOut)
    #expect(!plan.arguments[0].isConsumed && !plan.consumesArguments)
  }

  // M.f(_: Int × 6, __owned Swift.String) -> (): the text is in stack slots.
  @Test("of stack slots the same is shown", arguments: [true, false]) func onTheStack(unused: Bool) throws {
    let plan = try plan("$s1M1fyySi_S5iSSntF", unused: unused)
    #expect(plan.arguments[6].location == .optimizedOut)
    #expect(plan.arguments[6].isConsumed == !unused)
  }
}
