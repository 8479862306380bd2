// BoundsCheck — which arguments of a function are indices or ranges, by its name, labels and types, and what they must not exceed.
//
// Nothing here knows a function: what is found in the running program's own registry is judged by the words of Foundation's interface.
// `Tests/Programs/guards` holds the verdicts against what the originals do.
internal import CHookTrampoline
internal import HookRuntime
internal import SwiftMangling

/// One argument that must lie within the receiver. Positions are those of the call's plan.
enum BoundsCheck: Sendable {
  /// 0..<count
  case element(Int)
  /// 0...count
  case position(Int)
  /// An NSRange with 0 <= location, 0 <= length, location + length <= count
  case range(Int)
  /// An NSRange within another argument, an array.
  case rangeOfArray(Int, array: Int)
  /// An NSRange within another argument, a set with an order.
  case rangeOfSet(Int, set: Int)
  /// 0..<length of another argument, a text
  case elementOfText(Int, text: Int)
  /// A set of indices, all of them 0..<count
  case indices(Int)
  /// Of places for new objects, which are there as well then
  case newIndices(Int, objects: Int)
  /// An array with as many objects as a range or set of indices asks for, at least.
  case enough(objects: Int, range: Int)
  case enoughForIndices(objects: Int, indices: Int)
  /// 0...count - the number of indices that are taken out before
  case positionAmongOthers(Int, indices: Int)
  /// A length or a number: 0 or more
  case size(Int)
  /// A text that is not empty
  case someText(Int)
  /// A key that is no operator: those begin with `@`, and nothing answers them.
  case plainKey(Int)
  /// What an object of a cache costs: with all others' an Int.
  case cost(Int)
  /// At least as many objects as there are keys for them
  case object(Int, forEachOf: Int)

  /// Whether it is held against the number of elements that the receiver has.
  var needsCount: Bool {
    switch self {
    case .size, .someText, .plainKey, .cost, .object, .rangeOfArray, .rangeOfSet, .elementOfText, .enough, .enoughForIndices: false
    case .element, .position, .range, .indices, .newIndices, .positionAmongOthers: true
    }
  }

  /// What is to be checked of a function; empty where nothing is an index.
  static func all(of family: Family, _ plan: CallPlan) -> [BoundsCheck] {
    let declaration = family.declaration
    let isInsertion = declaration.name.hasPrefix("insert") || declaration.name == "setObject"
    let isIndexSet = declaration.context.map { "\($0)".hasSuffix("IndexSet") } ?? false
    if isIndexSet { return [] }
    var found: [BoundsCheck] = []
    let arguments = plan.arguments
    func first(_ type: String, besides: Int) -> Int? {
      arguments.indices.first { $0 != besides && arguments[$0].info?.name == type && !arguments[$0].isInout }
    }
    let objects = arguments.indices.first { arguments[$0].info?.name == "Swift.Array<Any>" && !arguments[$0].isInout }
    let indices = arguments.indices.first { isIndices(arguments[$0]) }
    for (index, argument) in arguments.enumerated() where argument.location.isWhole && !argument.isInout {
      let label = label(index, declaration, argument)
      switch argument.info?.name {
      case "Swift.Int"?:
        switch (declaration.isSubscript ? "at" : label, declaration.name) {
        case ("at"?, _) where isInsertion: found.append(.position(index))
        case ("at"?, _), ("withObjectAt"?, _): found.append(.element(index))
        case ("from"?, "substring"), ("to"?, "substring"): found.append(.position(index))
        case ("length"?, "getBytes"): found.append(.position(index))
        case ("to"?, "moveObjects"): if let indices { found.append(.positionAmongOthers(index, indices: indices)) }
        case ("indent"?, "description"), ("toLength"?, "padding"), ("by"?, "increaseLength"), ("length"?, "init"): found.append(.size(index))
        case (_, "length") where declaration.kind == .setter: found.append(.size(index))
        case ("cost"?, _): found.append(.cost(index))
        case ("startingAt"?, "padding"): if let text = first("Swift.String", besides: index) { found.append(.elementOfText(index, text: text)) }
        default: break
        }
      case "Swift.String"?:
        switch (label, declaration.name) {
        case ("withPad"?, "padding"): found.append(.someText(index))
        case ("forKey"?, "value"): found.append(.plainKey(index))
        default: break
        }
      case "Swift.Array<Foundation.NSObject>"?:
        if label == "forKeys", let objects { found.append(.object(objects, forEachOf: index)) }
      case "Foundation._NSRange"?:
        let isInit = declaration.kind == .`init` || declaration.kind == .allocatingInit
        if label == "range", declaration.name == "replaceObjects" || isInit, let objects {
          found.append(.rangeOfArray(index, array: objects))
        } else if label == "range", isInit, let set = first(orderedSet, besides: index) {
          found.append(.rangeOfSet(index, set: set))
        } else {
          found.append(.range(index))
          if label == "in", declaration.name == "replaceObjects", let objects, !declaration.labels.contains("range") {
            found.append(.enough(objects: objects, range: index))
          }
        }
      default:
        guard isIndices(argument) else { continue }
        if let objects {
          found.append(isInsertion ? .newIndices(index, objects: objects) : .indices(index))
          found.append(.enoughForIndices(objects: objects, indices: index))
        } else {
          found.append(.indices(index))
        }
      }
    }
    return found
  }

  private static let orderedSet = "Foundation.NSOrderedSet"
  /// The argument whose own count a check asks for, where it is an object's.
  var counted: Int? { if case .rangeOfSet(_, let set) = self { set } else { nil } }

  private static func isIndices(_ argument: ArgumentPlan) -> Bool {
    argument.info.map { $0.name.hasSuffix(".IndexSet") } ?? false
  }

  private static func label(_ index: Int, _ declaration: Declaration, _ argument: ArgumentPlan) -> String? {
    argument.label ?? (index < declaration.labels.count ? declaration.labels[index] : nil)
  }
}

/// Reads what the checks ask for, call by call.
struct BoundsReader {
  let view: CallView
  /// Elements of the receiver; of no meaning to checks that do not need it.
  let count: Int
  let indexSet: IndexSetAccess?
  /// Asks an argument that is a collection itself.
  var others: ElementCount?

  private func read<T>(_ index: Int, _ type: T.Type) -> T? {
    let arguments = view.plan.arguments
    guard index < arguments.count, let info = arguments[index].info, info.size == MemoryLayout<T>.size else { return nil }
    // The type's name was compared when the check was made.
    return view.reader.withMemory(arguments[index].location, info, isResult: false) { $0.load(as: T.self) } ?? nil
  }

  private func indices(_ index: Int) -> (first: Int, last: Int, count: Int)? {
    let arguments = view.plan.arguments
    guard let indexSet, index < arguments.count, let info = arguments[index].info else { return nil }
    return view.reader.withMemory(arguments[index].location, info, isResult: false) { indexSet.bounds(of: $0, info) } ?? nil
  }

  private func array(_ index: Int) -> Int? { read(index, [Any].self)?.count }

  /// What is wrong; nil: nothing is, or nothing can be said.
  func problem(_ check: BoundsCheck) -> String? {
    switch check {
    case .element(let at): return read(at, Int.self).flatMap { element($0, count) }
    case .position(let at): return read(at, Int.self).flatMap { position($0, count) }
    case .range(let at): return read(at, (Int, Int).self).flatMap { range($0, count) }
    case .rangeOfArray(let at, let array):
      guard let limit = self.array(array), let found = read(at, (Int, Int).self) else { return nil }
      return range(found, limit)
    case .rangeOfSet(let at, let set):
      // The caller's reference keeps it alive while the call is looked at.
      guard let others, let object = read(set, UnsafeRawPointer.self), let limit = others.read(object), let found = read(at, (Int, Int).self) else {
        return nil
      }
      return range(found, limit)
    case .elementOfText(let at, let text):
      guard let limit = read(text, String.self)?.utf16.count, let found = read(at, Int.self) else { return nil }
      return element(found, limit)
    case .indices(let at):
      guard let found = indices(at), found.count > 0 else { return nil }
      return element(found.last, count)
    case .newIndices(let at, _):
      guard let found = indices(at), found.count > 0, let limit = sum(count, found.count) else { return nil }
      return element(found.last, limit)
    case .enough(let objects, let at):
      guard let given = array(objects), let found = read(at, (Int, Int).self), given < found.1 else { return nil }
      return "\(given) objects for \(found.1) places"
    case .enoughForIndices(let objects, let at):
      guard let given = array(objects), let found = indices(at), given < found.count else { return nil }
      return "\(given) objects for \(found.count) places"
    case .positionAmongOthers(let at, let set):
      guard let moved = indices(set), let found = read(at, Int.self) else { return nil }
      return position(found, max(0, count - moved.count))
    case .size(let at): return read(at, Int.self).flatMap { $0 < 0 ? "\($0) is less than 0" : nil }
    case .someText(let at): return read(at, String.self).flatMap { $0.isEmpty ? "the text to fill up with is empty" : nil }
    case .plainKey(let at): return read(at, String.self).flatMap { $0.hasPrefix("@") ? "'\($0.prefix(40))' is an operator, which no key is" : nil }
    case .cost(let at):
      guard let cost = read(at, Int.self), let object = view.selfObject, let total = CacheTotal.read(object), sum(total, cost) == nil else {
        return nil
      }
      return "a cost of \(cost) and the \(total) of the others are more than an Int"
    case .object(let objects, let keys):
      // Arrays of Any and of objects; only their counts are asked for.
      guard let given = array(objects), let wanted = read(keys, [AnyObject].self)?.count, given < wanted else { return nil }
      return "\(given) objects for \(wanted) keys"
    }
  }

  /// Makes an argument harmless where nothing can be answered in the place of a result.
  /// - Returns: what was done; nil: nothing can be.
  func correct(_ check: BoundsCheck, _ call: UnsafeMutablePointer<HKTCall>) -> String? {
    switch check {
    case .size(let at), .cost(let at):
      guard let info = view.plan.arguments[at].info else { return nil }
      replace(at, info, 0, call)
      return "called with 0"
    case .rangeOfArray(let at, _), .rangeOfSet(let at, _):
      // An answer stands in where there is one: this is an initialiser.
      guard let info = view.plan.arguments[at].info else { return nil }
      replace(at, info, (0, 0), call)
      return "called with an empty range"
    case .object(let objects, let keys):
      guard let given = array(objects), let all = read(keys, [AnyObject].self), let info = view.plan.arguments[keys].info else { return nil }
      // An array of objects has the same layout whatever their class.
      replace(keys, info, Array(all.prefix(given)), call)
      return "called with \(given) keys"
    default: return nil
    }
  }

  private func replace<T>(_ index: Int, _ info: TypeInfo, _ value: T, _ call: UnsafeMutablePointer<HKTCall>) {
    let made = OwnedValue(uninitialized: info)
    // T has the argument's layout: `correct` chose it so.
    made.memory.initializeMemory(as: T.self, to: value)
    ValueWriter(call).replace(index, of: view.plan, with: made)
  }

  private func element(_ index: Int, _ count: Int) -> String? {
    index >= 0 && index < count ? nil : "index \(text(index)) is not in 0..<\(count)"
  }
  private func position(_ index: Int, _ count: Int) -> String? {
    index >= 0 && index <= count ? nil : "index \(text(index)) is not in 0...\(count)"
  }
  private func range(_ range: (Int, Int), _ count: Int) -> String? {
    let isGood = range.0 >= 0 && range.1 >= 0 && range.0 <= count && range.1 <= count - range.0
    return isGood ? nil : "range {\(text(range.0)), \(text(range.1))} is not in 0..<\(count)"
  }
  private func sum(_ a: Int, _ b: Int) -> Int? {
    let (sum, overflow) = a.addingReportingOverflow(b)
    return overflow ? nil : sum
  }
  private func text(_ index: Int) -> String { index == .max ? "NSNotFound" : "\(index)" }
}

/// What the objects of an NSCache cost, all together.
enum CacheTotal {
  /// What `_totalCost` of the cache holds; nil where it has no such property of type Int.
  static func read(_ object: UnsafeRawPointer) -> Int? {
    let type = Metadata(object.load(as: UnsafeRawPointer.self))
    guard case .success(let field) = StoredField.find("_totalCost", in: type), field.info.name == "Swift.Int" else { return nil }
    // The object lives: it is the receiver of a call.
    return object.load(fromByteOffset: field.offset, as: Int.self)
  }
}

/// Asks a set of indices for its ends, by its own members.
final class IndexSetAccess: Sendable {
  private let first: ComputedStep
  private let last: ComputedStep
  private let count: ComputedStep

  init?(_ info: TypeInfo) {
    do throws(RuleProblem) {
      first = try ComputedStep("first", of: info, "first")
      last = try ComputedStep("last", of: info, "last")
      count = try ComputedStep("count", of: info, "count")
    } catch { return nil }
  }

  /// - Parameter memory: the set.
  func bounds(of memory: UnsafeRawPointer, _ info: TypeInfo) -> (first: Int, last: Int, count: Int)? {
    guard let count = call(count, memory, info, Int.self) else { return nil }
    if count == 0 { return (0, 0, 0) }
    guard let first = call(first, memory, info, Int?.self) ?? nil, let last = call(last, memory, info, Int?.self) ?? nil else { return nil }
    return (first, last, count)
  }

  private func call<T>(_ step: ComputedStep, _ memory: UnsafeRawPointer, _ info: TypeInfo, _ type: T.Type) -> T? {
    var found: T?
    _ = step.call(on: memory, .passUnretained(info)) { result, info in
      if info._withUnsafeGuaranteedRef({ $0.size }) == MemoryLayout<T>.size { found = result.load(as: T.self) }
    }
    return found
  }
}
