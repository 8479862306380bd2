// TraceTarget — one traced selector: what its lines say, whose calls they are, and what these added up to.
internal import HookRuntime
internal import SwiftMangling
internal import Synchronization

final class TraceTarget: @unchecked Sendable {
  // The counters are atomic; the rest never changes.
  let tracer: Tracer
  let family: Family
  /// `PrettyPrinter.printToken` — the name up to the labels.
  let title: String
  let suffix: String
  /// Some of its calls end on another thread than they began, maybe.
  let hasAsyncCalls: Bool
  /// Where other types' calls may arrive, too; nil where the code is the selector's alone.
  let receiver: ReceiverCheck?
  let calls = Atomic<UInt64>(0)
  let errors = Atomic<UInt64>(0)
  let total = Atomic<UInt64>(0)
  let selfTime = Atomic<UInt64>(0)
  let longest = Atomic<UInt64>(0)
  let timed = Atomic<Bool>(false)

  init(tracer: Tracer, family: Family, in image: ImageCatalog?) {
    self.tracer = tracer
    self.family = family
    let declaration = family.declaration
    hasAsyncCalls = family.hasAsyncBodies
    receiver = image.flatMap { ReceiverCheck(whereSharedBy: family, in: $0) }
    var title = declaration.isStatic ? "static " : ""
    if family.imported != nil { title += "C." }
    if let context = declaration.context { title += context.steps.map(\.name).joined(separator: ".") + "." }
    title += declaration.name
    self.title = title
    switch declaration.kind {
    case .getter: suffix = ".get"
    case .setter: suffix = ".set"
    case .modify, .modify2: suffix = ".modify"
    case .read, .read2: suffix = ".read"
    case .willSet: suffix = ".willSet"
    case .didSet: suffix = ".didSet"
    default: suffix = ""
    }
  }

  /// A call took so long, of which so much passed in no other traced call; nil where that is not known.
  func note(_ elapsed: UInt64, own: UInt64?, didThrow: Bool) {
    if didThrow { errors.wrappingAdd(1, ordering: .relaxed) }
    total.wrappingAdd(elapsed, ordering: .relaxed)
    if let own { selfTime.wrappingAdd(own, ordering: .relaxed) }
    longest.raise(to: elapsed)
    timed.store(true, ordering: .relaxed)
  }
}

extension Atomic<UInt64> {
  /// Keeps the larger of the two.
  func raise(to value: UInt64) {
    var known = load(ordering: .relaxed)
    while value > known {
      let (exchanged, original) = weakCompareExchange(expected: known, desired: value, ordering: .relaxed)
      if exchanged { return }
      known = original
    }
  }
}
