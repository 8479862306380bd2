// HookRequest — as a back end tells its calls.

private import SwiftMangling

extension HookRequest {
  /// Requests for a protocol's requirement by its conformances' tables are for those tables: what carries the requirement out
  /// may be behind a virtual table, for several classes.
  static func byTable(_ requests: [HookRequest]) -> [HookRequest] {
    guard requests.contains(where: { $0.backEnd == .witness && $0.family.requirement != nil }) else { return requests }
    var made: [HookRequest] = []
    var asked: Set<String> = []
    for request in requests {
      guard request.backEnd == .witness, let requirement = request.family.requirement else {
        made.append(request)
        continue
      }
      guard asked.insert(requirement.typedName(qualified: true)).inserted else { continue }
      for (image, family) in ProcessCatalog.shared.current().tableFamilies(of: requirement) {
        made.append(HookRequest(image: image, family: family, scope: request.scope, backEnd: .witness))
      }
    }
    return made
  }
}
