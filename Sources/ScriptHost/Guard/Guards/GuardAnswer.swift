// GuardAnswer — what a call comes back with whose original is not to run.
internal import CHookTrampoline
internal import HookRuntime
internal import SwiftMangling
private import Glibc

/// The neutral result of one function. Made when its guard begins.
struct GuardAnswer: Sendable {
  /// In words: `nil`, `an empty text`.
  let description: String
  private let make: @Sendable (TypeInfo) -> OwnedValue?

  /// Nil where nothing harmless can be returned, or the call ends what only the original may end.
  init?(_ family: Family, _ plan: CallPlan) {
    let declaration = family.declaration
    if plan.isAsync || plan.learnsTypesFromCalls || declaration.isCoroutine || plan.consumesSelf { return nil }
    if declaration.kind == .`init` || declaration.kind == .allocatingInit { return nil }
    if plan.resultIsVoid {
      (description, make) = ("the call was ignored", { _ in nil })
      return
    }
    guard plan.result.isReplaceable, let info = plan.result.info, let found = Self.maker(info, declaration.name) else { return nil }
    // Tried once: what cannot be made is found out now.
    guard let sample = found.make(info) else { return nil }
    sample.destroy()
    (description, make) = ("answered \(found.words)", found.make)
  }

  private typealias Maker = (words: String, make: @Sendable (TypeInfo) -> OwnedValue?)

  private static func maker(_ info: TypeInfo, _ name: String) -> Maker? {
    switch info.name {
    case "Any": return ("nil", { info in value(info, Optional<Any>.none as Any) })
    // NSNotFound, so that what is done with it is caught again.
    case "Foundation._NSRange": return ("{NSNotFound, 0}", { info in value(info, (Int.max, 0)) })
    case "Swift.Int" where name.hasPrefix("index"): return ("NSNotFound", { info in value(info, Int.max) })
    case "Foundation.NSAttributedString": return ("an empty attributed string", emptyAttributedString)
    default: break
    }
    if case .enumeration = info.kind {
      guard let same = info.metadata.enumCases.firstIndex(where: { $0.name == "orderedSame" && !$0.hasPayload }) else { return nil }
      return ("orderedSame", { info in
        let made = OwnedValue(uninitialized: info)
        info.metadata.injectEnumTag(made.memory, same)
        return made
      })
    }
    return ("the neutral value of \(info.name)", { NeutralValue.make($0) })
  }

  /// - Parameter value: of the type's layout.
  private static func value<T>(_ info: TypeInfo, _ value: T) -> OwnedValue? {
    guard MemoryLayout<T>.size == info.size else { return nil }
    let made = OwnedValue(uninitialized: info)
    made.memory.initializeMemory(as: T.self, to: value)
    return made
  }

  @Sendable private static func emptyAttributedString(_ info: TypeInfo) -> OwnedValue? {
    guard let make = try? SwiftFunction("Foundation.NSAttributedString.init(string:)"), let made: AnyObject = try? make.call("") else { return nil }
    return value(info, made)
  }

  /// Puts it into the call's frame, and ends what the original would have ended.
  func put(_ call: UnsafeMutablePointer<HKTCall>) {
    let view = CallView(call)
    let plan = view.plan
    FrameAnswer.consumeArguments(of: call, plan)
    FrameAnswer(call.pointee.frame).handBack()
    guard !plan.resultIsVoid, let info = plan.result.info, let made = make(info) else { return }
    ValueWriter(call).setResult(plan.result, to: made)
  }
}
