// PathStep — one step of a capture path, worked out when the rule is loaded: `.lines`, `.count`, `.total()`.
//
// A step leads from a value in memory to another. Where the declared type does not tell what a name means (an existential, a
// subclass, a generic argument) the step asks the value's own type, and remembers the answer for the next value of that type.
internal import HookRuntime
private import Synchronization

enum PathStep {
  /// A stored field of a struct, or an element of a tuple.
  case field(offset: Int, Unmanaged<TypeInfo>)
  /// A stored field of an object.
  case objectField(offset: Int, Unmanaged<TypeInfo>)
  /// A weak reference of an object, read as the Optional that it is.
  case weakField(offset: Int, Unmanaged<TypeInfo>)
  /// What an Optional holds; a path that meets nil ends there.
  case unwrap(Unmanaged<TypeInfo>, payload: Unmanaged<TypeInfo>)
  /// The values of an enum's case; of another case there is nothing.
  case payload(Unmanaged<TypeInfo>, number: Int)
  /// What an existential holds; the next step is found by its type.
  case open(Unmanaged<TypeInfo>)
  case element(Unmanaged<CollectionType>, Int)
  case count(Unmanaged<CollectionType>)
  case isEmpty(Unmanaged<CollectionType>)
  case textCount, textIsEmpty
  /// `@type`: the name of the value's own type. The last step.
  case typeName
  /// A getter, or a method without arguments: code of the program.
  case call(Unmanaged<ComputedStep>)
  case byName(Unmanaged<NamedStep>)
}

/// Steps that follow each other, and what they lead to as far as declared types tell.
final class PathSteps: @unchecked Sendable {
  // Immutable, and what it refers to lives as long.
  private let kept = KeptParts()
  let steps: UnsafeBufferPointer<PathStep>
  /// nil where each value tells.
  let type: TypeInfo?

  /// Works out what names mean.
  /// - Parameters: what the first name is asked of, nil when each call tells; `path`, for messages; whether nothing follows the last name.
  init(
    _ names: ArraySlice<String>, from start: TypeInfo?, path: String, rights: PatchRights? = nil, isWhole: Bool = true
  ) throws(RuleProblem) {
    var made: [PathStep] = []
    var type = start
    if let early = names.dropLast().first(where: { $0 == Self.typeStep }) {
      throw RuleProblem("'\(path)': '\(early)' is the name of a type, and the last step of a path")
    }
    for name in names { type = try Self.append(name, to: type, path, rights, &made, kept) }
    // A case's only value, where it has a label.
    if isWhole, let whole = type, case .tuple = whole.kind, whole.fields.count == 1 { type = try Self.member("0", of: whole, path, &made, kept) }
    steps = kept.list(made)
    self.type = type
  }

  /// No name in Swift begins so.
  static let typeStep = "@type"

  /// Appends the steps for one name; answers the type they lead to.
  private static func append(
    _ name: String, to start: TypeInfo?, _ path: String, _ rights: PatchRights?, _ steps: inout [PathStep], _ kept: KeptParts
  ) throws(RuleProblem) -> TypeInfo? {
    var type = start
    while case .optional(let payload)? = type?.kind {
      steps.append(.unwrap(kept.object(type!), payload: kept.object(payload)))
      type = payload
    }
    if name == typeStep {
      if case .existential? = type?.kind { steps.append(.open(kept.object(type!))) }
      steps.append(.typeName)
      return text
    }
    guard let type else {
      steps.append(.byName(kept.object(NamedStep(name, path, rights))))
      return nil
    }
    if case .existential = type.kind {
      steps.append(.open(kept.object(type)))
      steps.append(.byName(kept.object(NamedStep(name, path, rights))))
      return nil
    }
    if let rights {
      let isComputed = name.hasSuffix("()")
      let member = isComputed ? String(name.dropLast(2)) : name
      let why = rights.refusal(selector: "\(type.name).\(member)", of: type.name) ?? (isComputed ? rights.refusal(.call) : nil)
      if let why { throw RuleProblem("'\(path)': \(why)") }
    }
    if name.hasSuffix("()") {
      let step = try ComputedStep(String(name.dropLast(2)), of: type, path)
      steps.append(.call(kept.object(step)))
      return step.result
    }
    return try member(name, of: type, path, &steps, kept)
  }

  private static func member(
    _ name: String, of type: TypeInfo, _ path: String, _ steps: inout [PathStep], _ kept: KeptParts
  ) throws(RuleProblem) -> TypeInfo? {
    switch type.kind {
    case .string where name == "count":
      steps.append(.textCount)
      return integer
    case .string where name == "isEmpty":
      steps.append(.textIsEmpty)
      return boolean
    case .enumeration:
      let cases = type.cases
      guard let number = cases.firstIndex(where: { $0.name == name }) else {
        throw RuleProblem(missing(name, "case", type.name, cases.map(\.name), path))
      }
      guard let payload = cases[number].payload else { throw RuleProblem("'\(path)': case '\(name)' of \(type.name) has no values") }
      steps.append(.payload(kept.object(type), number: number))
      return payload
    case .tuple:
      // By its position, whether it has a label or not.
      guard let position = Int(name), type.fields.indices.contains(position), case .success(let element) = type.fields[position].type else { break }
      steps.append(.field(offset: type.fields[position].offset, kept.object(element)))
      return element
    default: break
    }
    if let collection = CollectionType.of(type) { return try member(name, of: collection, type, path, &steps, kept) }
    guard type.metadata.descriptor != nil || !type.fields.isEmpty else {
      throw RuleProblem("'\(path)': \(type.name) has no fields, so no '\(name)'")
    }
    if case .object = type.kind, let field = type.fields.first(where: { $0.name == name }), case .weak = field.reference,
      case .success(let optional) = field.type, case .optional(let payload) = optional.kind, case .object = payload.kind
    {
      steps.append(.weakField(offset: field.offset, kept.object(optional)))
      return optional
    }
    switch StoredField.find(name, in: type.metadata) {
    case .success(let field):
      if case .object = type.kind {
        steps.append(.objectField(offset: field.offset, kept.object(field.info)))
      } else {
        steps.append(.field(offset: field.offset, kept.object(field.info)))
      }
      return field.info
    case .failure(.noField(_, let owner, let known)):
      throw RuleProblem(missing(name, "stored field", owner, known, path) + computedHint(name, type))
    case .failure(let problem): throw RuleProblem("'\(path)': \(problem)")
    }
  }

  private static func member(
    _ name: String, of collection: CollectionType, _ type: TypeInfo, _ path: String, _ steps: inout [PathStep], _ kept: KeptParts
  ) throws(RuleProblem) -> TypeInfo? {
    if name == "count" {
      steps.append(.count(kept.object(collection)))
      return integer
    }
    if name == "isEmpty" {
      steps.append(.isEmpty(kept.object(collection)))
      return boolean
    }
    if collection.isList, let position = name == "first" ? 1 : Int(name), position > 0 {
      steps.append(.element(kept.object(collection), position - 1))
      return collection.element
    }
    throw RuleProblem(
      "'\(path)': a path goes into \(type.name) by count, isEmpty\(collection.isList ? ", first or a position from 1" : ""), not by '\(name)'")
  }

  /// One sentence that names the nearest, or all there are when none is near.
  static func missing(_ name: String, _ what: String, _ owner: String, _ known: [String], _ path: String) -> String {
    let advice =
      if let nearest = RuleNames.nearest(to: name, known) { "; did you mean '\(nearest)'?" } else if known.isEmpty { "" } else {
        "; it has \(known.prefix(12).joined(separator: ", "))"
      }
    return "'\(path)': \(owner) has no \(what) '\(name)'\(advice)"
  }

  /// A computed property of that name may be what was meant.
  private static func computedHint(_ name: String, _ type: TypeInfo) -> String {
    guard (try? ComputedStep(name, of: type, name)) != nil else { return "" }
    return "; '\(name)' is computed: write '\(name)()', which runs code of the program"
  }

  // The standard library's own types are always known.
  static let integer = try? TypeResolver.shared.type(of: Metadata(Int.self)).get()
  static let text = try? TypeResolver.shared.type(of: Metadata(String.self)).get()
  static let error = try? TypeResolver.shared.type(of: Metadata((any Error).self)).get()
  static let boolean = try? TypeResolver.shared.type(of: Metadata(Bool.self)).get()
}

/// A name whose meaning each value's own type tells.
final class NamedStep: @unchecked Sendable {
  // `known` is atomic, and what it leads to is immutable and ends with the step.
  private let name: String
  private let path: String
  private let rights: PatchRights?
  private let known = Atomic<UInt>(0)
  private let count = Atomic<Int>(0)
  /// Types that are remembered; of more, each value is looked up anew.
  private static let most = 64

  final class Answer {
    let type: Unmanaged<TypeInfo>
    let steps: Result<PathSteps, RuleProblem>
    let next: Unmanaged<Answer>?

    init(_ type: Unmanaged<TypeInfo>, _ steps: Result<PathSteps, RuleProblem>, next: Unmanaged<Answer>?) {
      self.type = type
      self.steps = steps
      self.next = next
    }
  }

  init(_ name: String, _ path: String, _ rights: PatchRights?) {
    self.rights = rights
    self.name = name
    self.path = path
  }

  deinit {
    var each = UnsafeRawPointer(bitPattern: known.load(ordering: .relaxed)).map { Unmanaged<Answer>.fromOpaque($0) }
    while let answer = each {
      each = answer.takeUnretainedValue().next
      answer.release()
    }
  }

  /// What the name means for values of `type`.
  func find<R>(_ type: Unmanaged<TypeInfo>, _ body: (Answer) -> R) -> R {
    let head = known.load(ordering: .acquiring)
    var each = UnsafeRawPointer(bitPattern: head).map { Unmanaged<Answer>.fromOpaque($0) }
    while let answer = each {
      let (isIt, next) = answer._withUnsafeGuaranteedRef { ($0.type.toOpaque() == type.toOpaque(), $0.next) }
      if isIt { return answer._withUnsafeGuaranteedRef(body) }
      each = next
    }
    return body(learn(type, head))
  }

  private func learn(_ type: Unmanaged<TypeInfo>, _ head: UInt) -> Answer {
    let found: Result<PathSteps, RuleProblem>
    do throws(RuleProblem) {
      found = .success(try PathSteps([name], from: type.takeUnretainedValue(), path: path, rights: rights, isWhole: false))
    } catch {
      found = .failure(error)
    }
    let next = UnsafeRawPointer(bitPattern: head).map { Unmanaged<Answer>.fromOpaque($0) }
    let answer = Answer(type, found, next: next)
    // Another thread may have been first: then this one is used once.
    if count.load(ordering: .relaxed) < Self.most {
      let kept = Unmanaged.passRetained(answer)
      if known.compareExchange(expected: head, desired: UInt(bitPattern: kept.toOpaque()), ordering: .acquiringAndReleasing).exchanged {
        count.add(1, ordering: .relaxed)
      } else {
        kept.release()
      }
    }
    return answer
  }
}
