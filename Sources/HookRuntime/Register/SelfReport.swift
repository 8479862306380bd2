// SelfReport — what is known of the end of a method's self, in words: for `call-plans --self`, which counts what stays open and why.
internal import SwiftMangling

/// What a method's code tells of the end of its self.
package struct SelfReport {
  package enum Form: String { case object, words, address, unknown }
  package var form: Form
  package var use: SelfUse
  /// Why nothing is known.
  package var reason: String
}

extension ImageCatalog {
  /// What is known of the end of a method's self, for reports; nil for what is no method of an instance whose self holds references.
  package func selfReport(of body: Body, by plan: CallPlan) -> SelfReport? {
    guard plan.isMethod else { return nil }
    var report = SelfReport(form: .unknown, use: .unknown, reason: "")
    if plan.isAsync { report.reason = "async" }
    switch plan.selfPlan {
    case .none, .metatype: return nil
    case .unknown(let reason): report.reason = reason
    case .object:
      report.form = .object
      report.use = selfUse(of: body, by: plan)
      if report.use == .unknown, let object = plan.selfObjectRegister { report.reason = doubt(of: body, about: object, by: plan) }
    case .value(let value):
      // What the body does not take it is not called with.
      if value.info?.isTrivial == true || value.access == .inPlace || value.access == .borrowed || value.location == .optimizedOut {
        return nil
      }
      if case .address = value.location { report.form = .address } else { report.form = .words }
      if case .value(let known) = selfPlan(of: body, by: plan) {
        report.use = known.access == .owned ? .consumed : known.access == .borrowed ? .kept : .unknown
      }
      if report.use == .unknown, report.reason.isEmpty {
        report.reason =
          (value.info == nil ? "generic " : "")
          + lock.withLock {
            flows.doubts(of: value, at: body.address - bias, size: body.size, results: plan.ownedResults)
          }
      }
    }
    return report
  }

  private func doubt(of body: Body, about object: Places, by plan: CallPlan) -> String {
    lock.withLock { flows.doubt(at: body.address - bias, size: body.size, of: FollowedSelf(reference: object), results: plan.ownedResults) }
  }
}
