// ConformingClass — a class made at run time that conforms to protocols of the program, whatever its objects do for them.
//
// Its witness tables are in memory of ours, and the runtime is notified of them, so that casts find them. Each word names a
// synthesized method: its layer looks at the object in r13 for a handler (Behaviour); what has none goes on to the forwarder, which
// calls the object's target through the target's own table, or a default implementation, or answers nothing.
internal import CHookTrampoline
internal import SwiftMangling
internal import Synchronization

/// One requirement of one protocol in a class's table. Never freed, as the stubs that name it.
final class RequirementEntry: @unchecked Sendable {
  // Set while the class is made, and not changed afterwards.
  let layout: ProtocolLayout
  let requirement: Requirement
  let declaration: Declaration
  let convention: WitnessConvention
  /// The body of the protocol extension that types without an implementation get; 0 for none.
  let defaultBody: UInt
  /// Which table of the class it is in.
  let protocolIndex: Int
  /// The property's accessors, for `modify`.
  fileprivate(set) var modify: SynthesizedModify?
  fileprivate(set) var accessors: [Int] = []
  /// Its index in the class's entries.
  fileprivate(set) var position = 0
  private(set) var synthesizedMethod: SynthesizedMethod!
  /// What a frame of such a call stands for where the forwarder answers it.
  private(set) var record: UnsafeMutablePointer<HKTBodyRecord>

  var plan: CallPlan { convention.plan }
  /// `cartDidChange(_:)`
  let name: String
  /// By conforming types' tables: whether they have an implementation of their own, as far as it is known.
  let implementedIn = Mutex<[UInt: Bool?]>([:])

  /// A call that nobody answers does no harm: it returns nothing, or nil, or throws.
  var hasNeutralAnswer: Bool {
    if plan.resultIsVoid || plan.mayThrow || requirement.kind == .modify { return true }
    if case .optional? = plan.result.info?.kind { return true }
    return false
  }

  fileprivate init(_ requirement: Requirement, of layout: ProtocolLayout, _ protocolIndex: Int, at place: UnsafeRawPointer)
    throws(NewTypeError)
  {
    self.layout = layout
    self.requirement = requirement
    self.protocolIndex = protocolIndex
    do throws(ProtocolProblem) { convention = try WitnessConvention(requirement) } catch {
      throw .conformance(layout.name, reason: error.description)
    }
    declaration = requirement.declaration!  // or there is no convention
    name = declaration.memberName
    defaultBody = DefaultImplementations.body(of: declaration)
    record = .allocate(capacity: 1)
    record.initialize(to: HKTBodyRecord())
    record.pointee.plan = Unmanaged.passRetained(convention.plan).toOpaque()
    record.pointee.facts = convention.plan.facts
    let forwarder = try Forwarding.forwarder(self)
    synthesizedMethod = try SynthesizedMethod(at: place, original: forwarder, plan: convention.plan)
    let context = Unmanaged.passRetained(self).toOpaque()
    let spec = LayerSpec(
      function: requirementLayer, context: context, phases: UInt32(HKT_ON_AROUND | HKT_TIMED), isHostWork: false, owner: "implementation")
    guard synthesizedMethod.publish(spec) else { throw .noMemory }
  }
}

package final class ConformingClass: @unchecked Sendable {
  // Set in init.
  package let runtimeClass: RuntimeClass
  /// The protocols asked for and what they inherit, each once.
  let layouts: [ProtocolLayout]
  private(set) var entries: [RequirementEntry] = []
  private(set) var tables: [UnsafeRawPointer] = []
  /// What members' names mean, as far as they were asked for.
  private let names = Mutex<[String: Result<RequirementEntry, NewTypeError>]>([:])

  /// - Parameter name: what the class is called, when that is free.
  fileprivate init(_ protocols: [ProtocolLayout], name: NewTypeName) throws(NewTypeError) {
    let layouts = try Self.closure(of: protocols)
    self.layouts = layouts
    runtimeClass = try RuntimeClass.makeImplementation(name)
    let block = try MetadataBlock(bytes: layouts.reduce(256) { $0 + 8 * $1.words + 64 })
    let builder = DescriptorBuilder(block: block)
    let memory = layouts.map { block.take(8 * $0.words) }
    tables = memory.map(UnsafeRawPointer.init)
    var records: [UnsafeRawPointer] = []
    for (index, layout) in layouts.enumerated() {
      let descriptor = builder.conformance(of: runtimeClass.metadata, to: layout.descriptor, table: memory[index])
      memory[index].storeBytes(of: descriptor, as: UnsafeRawPointer.self)
      for (word, base) in layout.bases {
        let position = layouts.firstIndex { $0.descriptor == base }!  // `closure` took it in
        memory[index].storeBytes(of: tables[position], toByteOffset: 8 * word, as: UnsafeRawPointer.self)
      }
      try fill(memory[index], layout, index)
      records.append(builder.record(of: descriptor))
    }
    runtimeClass.implements(
      entries.filter { $0.requirement.kind != .modify }.compactMap { entry in
        (try? entry.callable(on: runtimeClass.metadata)).map { .init(declaration: entry.declaration, name: entry.name, callable: $0) }
      })
    for record in records { RuntimeRecords.addConformance(record) }
  }

  /// Each protocol with all it inherits from, the outermost first. What cannot be implemented throws.
  private static func closure(of protocols: [ProtocolLayout]) throws(NewTypeError) -> [ProtocolLayout] {
    var all: [ProtocolLayout] = []
    var queue = protocols
    while !queue.isEmpty {
      let next = queue.removeFirst()
      if all.contains(where: { $0.descriptor == next.descriptor }) { continue }
      if let problem = ProtocolTrust.problem(next.descriptor) ?? next.problem() {
        throw .conformance(next.name, reason: problem.description)
      }
      all.append(next)
      queue += next.bases.map { ProtocolLayout.of($0.proto, name: $0.proto.qualifiedName) }
    }
    return all
  }

  /// Writes the words of one protocol's witness table, which is memory of ours.
  private func fill(_ table: UnsafeMutableRawPointer, _ layout: ProtocolLayout, _ index: Int) throws(NewTypeError) {
    var own: [RequirementEntry] = []
    for requirement in layout.requirements where requirement.isFunction {
      let entry = try RequirementEntry(requirement, of: layout, index, at: table + 8 * requirement.word)
      table.storeBytes(of: entry.synthesizedMethod.word, toByteOffset: 8 * requirement.word, as: UInt.self)
      own.append(entry)
    }
    for entry in own {
      entry.position = entries.count
      entries.append(entry)
    }
    for entry in own where entry.requirement.kind == .modify { try pair(entry, among: own, table) }
  }

  /// In-place modification goes by way of the getter and setter, where those are handled.
  private func pair(_ entry: RequirementEntry, among own: [RequirementEntry], _ table: UnsafeRawPointer) throws(NewTypeError) {
    func accessor(_ kind: Requirement.Kind) -> RequirementEntry? {
      own.first { $0.requirement.kind == kind && $0.declaration.isAccessor(ofTheSamePropertyAs: entry.declaration) }
    }
    guard let getter = accessor(.getter), let setter = accessor(.setter) else {
      throw .conformance(entry.layout.name, reason: "'\(entry.name)' has no getter and setter")
    }
    entry.modify = SynthesizedModify(
      plan: entry.plan, get: try getter.callable(on: runtimeClass.metadata), set: try setter.callable(on: runtimeClass.metadata),
      words: (table + 8 * getter.requirement.word, table + 8 * setter.requirement.word))
    entry.accessors = [getter.position, setter.position]
  }

  // MARK: Finding one

  private static let lock = RecursiveLock()
  nonisolated(unsafe) private static var made: [String: ConformingClass] = [:]  // behind `lock`

  /// The class whose objects implement these protocols. One for each list and use.
  /// - Parameters:
  ///   - names: `Shop.CartDelegate`
  ///   - suffix: what its name ends with.
  package static func implementing(_ names: [String], suffix: String = "Implementation") throws(NewTypeError) -> ConformingClass {
    let key = names.joined(separator: ",") + "/" + suffix
    return try lock.withLock { () throws(NewTypeError) in
      if let known = made[key] { return known }
      let layouts = try names.map { (name) throws(NewTypeError) in ProtocolLayout.of(try Protocols.named(name), name: name) }
      let base = names.map { String($0.split(separator: ".").last ?? "") }.filter(NewTypeName.isIdentifier).joined(separator: "_") + suffix
      let class_ = try ConformingClass(layouts, name: NewTypeName(module: "ScriptHost", made: free(base)))
      made[key] = class_
      return class_
    }
  }

  /// The class whose objects stand before others: it conforms to the protocols, and to those of `others` that can be
  /// implemented, so that casts of the proxy go as casts of its target.
  static func forwarding(_ protocols: [ProtocolDescriptor], besides others: [ProtocolDescriptor]) throws(NewTypeError) -> ConformingClass {
    let required = protocols.map { ProtocolLayout.of($0, name: $0.qualifiedName) }
    let all = try closure(of: required)
    let more = others.filter { other in !all.contains { $0.descriptor == other } }.map { ProtocolLayout.of($0, name: $0.qualifiedName) }
      .filter { (try? closure(of: [$0]).allSatisfy(\.canBePlanned)) ?? false }.sorted { $0.name < $1.name }
    let layouts = required + more
    let key = layouts.map(\.name).joined(separator: ",") + "/Proxy"
    return try lock.withLock { () throws(NewTypeError) in
      if let known = made[key] { return known }
      let base = required.map(\.descriptor.name).filter(NewTypeName.isIdentifier).joined(separator: "_") + "Proxy"
      let class_ = try ConformingClass(layouts, name: NewTypeName(module: "ScriptHost", made: free(base)))
      made[key] = class_
      return class_
    }
  }

  private static func free(_ base: String) -> String {
    var name = base
    var number = 2
    while RuntimeClasses.named("ScriptHost." + name) != nil {
      name = "\(base)\(number)"
      number += 1
    }
    return name
  }

  /// The entry that a member's name means: `cartDidChange(_:)`, `title.get`, with types where the name alone is not enough.
  func entry(_ member: String) -> Result<RequirementEntry, NewTypeError> {
    if let known = names.withLock({ $0[member] }) { return known }
    let found = find(member)
    names.withLock { $0[member] = found }
    return found
  }

  /// The requirement that a member's name means, for what is shown of its calls.
  package func family(_ member: String) throws(NewTypeError) -> Family { .standing(for: try entry(member).get().declaration) }

  private func find(_ member: String) -> Result<RequirementEntry, NewTypeError> {
    let found = entries.filter { entry in
      entry.name == member || entry.declaration.typedName(qualified: false).hasSuffix("." + member)
        || entry.declaration.typedName(qualified: true).hasSuffix("." + member)
    }
    if found.count == 1 { return .success(found[0]) }
    let name = layouts[0].name
    if found.count > 1 { return .failure(.requirement(member, of: name, reason: "several requirements have this name; spell the types")) }
    let known = entries.map(\.name).uniqued()
    let near = EditDistance.closest(known, to: member, most: 1)
    return .failure(
      .requirement(
        member, of: name,
        reason: "there is no such requirement"
          + (near.isEmpty ? "; there are \(known.joined(separator: ", "))" : "; did you mean '\(near[0])'?")))
  }
}

extension RequirementEntry {
  /// Ready to be called on our own objects: whoever is called fills in what a witness takes besides.
  fileprivate func callable(on type: Metadata) throws(NewTypeError) -> Callable {
    do throws(CallRefusal) {
      return try Callable(
        declaration, selector: "\(layout.name).\(name)", plan: plan, selfPlan: plan.selfPlan, entry: synthesizedMethod.word, receiver: .object(type))
    } catch { throw .conformance(layout.name, reason: error.description) }
  }
}

extension Declaration {
  fileprivate func isAccessor(ofTheSamePropertyAs other: Declaration) -> Bool {
    name == other.name && isSubscript == other.isSubscript && labels == other.labels && type == other.type
  }
}

extension DescriptorBuilder {
  /// A conformance descriptor: {protocol, type, witness table, flags}.
  func conformance(of type: Metadata, to proto: ProtocolDescriptor, table: UnsafeRawPointer) -> UnsafeMutableRawPointer {
    let pointer = block.pointer(to: proto.pointer)
    let descriptor = block.take(16, alignment: 8)
    descriptor.storeDistance(to: pointer, bits: 1)
    let typePointer = block.pointer(to: type.descriptor!.pointer)  // every class made here has one
    (descriptor + 4).storeDistance(to: typePointer)
    (descriptor + 8).storeDistance(to: table)
    // Kind of the type's reference: 1, through a pointer.
    descriptor.storeBytes(of: 1 << 3, toByteOffset: 12, as: UInt32.self)
    return descriptor
  }
}
