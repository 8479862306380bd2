// HookRequest — as a back end tells its calls.

private import SwiftMangling

extension HookRequest {
  /// Requests for a protocol's requirement by its conformances' tables are for those tables: what carries the requirement out
  /// may be behind a virtual table, for several classes.
  static func byTable(_ requests: [HookRequest]) -> [HookRequest] {
    guard requests.contains(where: { $0.backEnd == .witness && $0.family.requirement != nil }) else { return requests }
    var made: [HookRequest] = []
    var asked: Set<[String]> = []
    for request in requests {
      guard request.backEnd == .witness, let requirement = request.family.requirement else {
        made.append(request)
        continue
      }
      let name = requirement.typedName(qualified: true)
      guard asked.insert([name, "\(request.wish)"]).inserted else { continue }
      let same = requests.filter { $0.family.requirement?.typedName(qualified: true) == name }
      // Those of other images are hooked already, where this is about an image that has appeared.
      var images: [ImageCatalog] = []
      for each in same where !images.contains(where: { $0 === each.image }) { images.append(each.image) }
      for (image, family) in ProcessCatalog.shared.current().tableFamilies(of: requirement, declaring: images) {
        var each = request
        (each.image, each.family) = (image, family)
        made.append(each)
      }
    }
    return made
  }
}
