// RuntimeClass — a class made at run time that inherits from one of the program's.
//
// Its metadata is a copy of the superclass's with a name, a descriptor and stored properties of its own (ClassBuilder). An
// overridden member is a word of that copy that names a synthesized method; `super` is what the word held. Instances are made by the
// superclass's initialisers (InstanceMaker), and ended by a destroyer that ends the added properties and goes on to the
// superclass's.
//
// What must stay true:
//   1. The metadata is never freed, and nothing but the words of overridden members changes once the class is registered.
//   2. Added properties hold values from before the superclass's initialiser runs until its destroyer does.
private import CHookTrampoline
private import Glibc
internal import SwiftMangling

package final class RuntimeClass: RuntimeMemberSource, @unchecked Sendable {
  // Set in init, but for `members` and `ending`, which are behind `lock`.
  package let name: String
  package let superclass: Metadata
  package let metadata: Metadata
  /// Properties the class adds, with what they hold at first.
  let fields: [Field]
  private let words: NewClassMetadata
  let makers = InstanceMakers()
  private let lock = RecursiveLock()
  private var members: [Int: Member] = [:]
  private var added: [String: AddedMethod] = [:]
  private var implemented: [Implemented] = []
  private var ending: SynthesizedMethod?
  /// Who defined the members there are.
  private var definer: ObjectIdentifier?
  private let typeName: NewTypeName

  /// A stored property to add.
  package struct Field: Sendable {
    package var name: String
    package var info: TypeInfo
    /// Initialises the memory of the property of a new instance.
    package var initialize: @Sendable (UnsafeMutableRawPointer) -> Void

    package init(name: String, info: TypeInfo, initialize: @escaping @Sendable (UnsafeMutableRawPointer) -> Void) {
      self.name = name
      self.info = info
      self.initialize = initialize
    }
  }

  private struct Member {
    let member: ClassMember
    let synthesizedMethod: SynthesizedMethod
  }

  private init(
    _ name: NewTypeName, superclass: Metadata, fields: [Field]
  ) throws(NewTypeError) {
    self.name = name.description
    typeName = name
    self.superclass = superclass
    self.fields = fields
    words = try NewClassMetadata(name, superclass: superclass, fields: fields.map { ($0.name, $0.info) })
    metadata = words.metadata
    try addDestroyers()
    if !fields.isEmpty, superclass != Metadata(ImplementationObject.self) { try addAllocators() }
  }

  /// Makes a class, and makes the runtime find it by its name. A class of the same name, superclass and properties whose
  /// definer is gone, or defines it anew, gets other members.
  /// - Parameters:
  ///   - definer: for `withdraw`.
  ///   - replaces: whether members of this definer may be replaced.
  ///   - define: overrides and adds members; when it throws, a new class is not registered.
  /// - Throws: when the superclass cannot be inherited from or the name is taken. Nothing is registered then.
  package static func make(
    _ text: String, superclass: Metadata, fields: [Field] = [], definer: AnyObject? = nil,
    replaces: (ObjectIdentifier) -> Bool = { _ in false }, _ define: (RuntimeClass) throws(NewTypeError) -> Void = { _ in }
  ) throws(NewTypeError) -> RuntimeClass {
    let name = try NewTypeName(text)
    if let known = RuntimeClasses.named(name.description) {
      guard known.mayBeDefinedAnew(superclass, fields, replaces) else { throw .nameTaken(name.description) }
      known.withdraw()
      try define(known)
      known.setDefiner(definer)
      return known
    }
    return try RuntimeClasses.add(name) { () throws(NewTypeError) in
      if let problem = SuperclassProblem(superclass) { throw .superclass(superclass.name, reason: problem.description) }
      try check(fields, superclass)
      let made = try RuntimeClass(name, superclass: superclass, fields: fields)
      if let descriptor = made.metadata.descriptor { RuntimeClasses.announce(name, descriptor) }
      try define(made)
      made.setDefiner(definer)
      made.words.publish()
      return made
    }
  }

  private func setDefiner(_ definer: AnyObject?) { lock.withLock { self.definer = definer.map(ObjectIdentifier.init) } }

  private func mayBeDefinedAnew(_ superclass: Metadata, _ fields: [Field], _ replaces: (ObjectIdentifier) -> Bool) -> Bool {
    let isFree = lock.withLock { isWithdrawn || definer.map(replaces) ?? false }
    return isFree && superclass == self.superclass && fields.map(\.name) == self.fields.map(\.name)
      && fields.map(\.info.metadata) == self.fields.map(\.info.metadata)
  }
  private var isWithdrawn = false  // behind `lock`

  /// A class whose objects' only property is their behaviour.
  static func makeImplementation(_ name: NewTypeName) throws(NewTypeError) -> RuntimeClass {
    guard case .success(let info) = TypeResolver.shared.type(of: Metadata(Behaviour?.self)) else { throw .runtime("Behaviour") }
    if !RuntimeRecords.isAvailable { throw .runtime("swift_registerProtocolConformances") }
    return try RuntimeClasses.add(name) { () throws(NewTypeError) in
      let field = Field(name: "behaviour", info: info) { $0.storeBytes(of: 0, as: UInt.self) }
      let made = try RuntimeClass(name, superclass: Metadata(ImplementationObject.self), fields: [field])
      guard made.words.fields[0].offset == Behaviour.offset else {
        fatalError("internal error: an implementation's layout; please report it")
      }
      made.words.publish()
      return made
    }
  }

  private static func check(_ fields: [Field], _ superclass: Metadata) throws(NewTypeError) {
    var seen = Set(superclass.storedFields.map(\.name))
    for field in fields {
      guard NewTypeName.isIdentifier(field.name) else { throw .field(field.name, reason: "it is no identifier") }
      guard seen.insert(field.name).inserted else { throw .field(field.name, reason: "the class has one of this name") }
      guard field.info.isCopyable else { throw .field(field.name, reason: "values of '\(field.info.name)' cannot be copied") }
      guard field.info.alignment <= 16 else {
        throw .field(field.name, reason: "'\(field.info.name)' wants to be aligned to \(field.info.alignment) bytes")
      }
    }
  }

  // MARK: Overridden members

  /// Makes `spec`, an `around` layer, what the member does for instances of this class; its original is the superclass's.
  /// - Parameters:
  ///   - name: `total(tax:)`, `title.get`, `static make()`.
  ///   - missing: calls that the compiler made direct may miss it.
  package func override(_ name: String, missing: Bool = false, _ spec: (ClassMember) -> LayerSpec) throws(NewTypeError) {
    let (member, synthesizedMethod) = try lock.withLock { () throws(NewTypeError) in try place(name, missing: missing) }
    guard synthesizedMethod.publish(spec(member)) else { throw .noMemory }
  }

  /// The synthesized method in the member's slot, made at first use.
  private func place(_ name: String, missing: Bool) throws(NewTypeError) -> (ClassMember, SynthesizedMethod) {
    func refusal(_ problem: MemberProblem) -> NewTypeError { .member(name, of: superclass.name, reason: problem.description) }
    let member: ClassMember
    let slot: Int
    switch ClassMember.find(name, in: superclass) {
    case .success(let found): member = found
    case .failure(let problem): throw refusal(problem)
    }
    if member.declaration.kind.isDeinit { throw refusal(.isDeinit) }
    if member.declaration.isCoroutine { throw refusal(.coroutine) }
    switch member.slot() {
    case .success(let found): slot = found
    case .failure(let problem): throw refusal(problem)
    }
    if let known = members[slot] { return (known.member, known.synthesizedMethod) }
    let word = words[slot]
    if member.isDeleted(word) { throw refusal(.deleted) }
    if !missing, let problem = member.missedCalls(by: superclass) { throw refusal(problem) }
    let plan = member.plan
    if plan.isAsync { throw refusal(.convention("it is async")) }
    if let reason = plan.opaqueBecause { throw refusal(.convention(reason)) }
    let synthesizedMethod = try SynthesizedMethod(at: metadata.pointer + 8 * slot, original: word, plan: plan)
    if member.declaration.kind == .getter || member.declaration.kind == .setter { try replaceModify(name, missing: missing) }
    words[slot] = synthesizedMethod.word
    members[slot] = Member(member: member, synthesizedMethod: synthesizedMethod)
    return (member, synthesizedMethod)
  }

  /// In-place modification goes by way of the getter and the setter, where one of them is overridden.
  /// - Parameter name: of the getter or setter.
  private func replaceModify(_ name: String, missing: Bool) throws(NewTypeError) {
    let property = String(name.dropLast(4))  // ".get", ".set"
    func member(_ accessor: String) throws(NewTypeError) -> (ClassMember, Int)? {
      guard case .success(let member) = ClassMember.find("\(property).\(accessor)", in: superclass, suggesting: false) else { return nil }
      guard case .success(let slot) = member.slot(), !member.isDeleted(words[slot]) else { return nil }
      return (member, slot)
    }
    for accessor in ["read", "read2", "modify2"] where try member(accessor) != nil {
      throw .member(name, of: superclass.name, reason: "its coroutine '\(accessor)' has a form that is not made here")
    }
    guard let (modify, slot) = try member("modify"), !SynthesizedMethods.isOurs(words[slot]) else { return }
    guard let (getter, getSlot) = try member("get"), let (setter, setSlot) = try member("set") else {
      throw .member(name, of: superclass.name, reason: "it is modified in place, and has no getter and setter in the virtual table")
    }
    if !missing, let problem = modify.missedCalls(by: superclass) {
      throw .member(name, of: superclass.name, reason: "in-place modification: \(problem)")
    }
    let plan = modify.plan
    if let reason = plan.obstacle { throw .member(name, of: superclass.name, reason: reason) }
    let synthesizedMethod = SynthesizedModify(
      plan: plan, get: try getter.callable(), set: try setter.callable(),
      words: (metadata.pointer + 8 * getSlot, metadata.pointer + 8 * setSlot))
    words[slot] = try synthesizedMethod.install(at: metadata.pointer + 8 * slot, former: words[slot])
  }

  // MARK: Added methods

  /// Gives the class a method that only calls by name reach, or another body to one that it added before with the same types.
  /// - Parameter spec: an `around` layer.
  package func add(_ signature: MethodSignature, _ spec: (AddedMethod) -> LayerSpec) throws(NewTypeError) {
    let method = try lock.withLock { () throws(NewTypeError) in
      if let known = added[signature.name] {
        guard known.signature.parameters == signature.parameters, known.signature.result == signature.result else {
          throw .member(signature.name, of: self.name, reason: "it was added before, with other types")
        }
        return known
      }
      if case .success(let member) = ClassMember.find(signature.name, in: superclass, suggesting: false) {
        throw .member(signature.name, of: self.name, reason: "'\(member.selector)' is inherited; override it")
      }
      let inherited = Self.added(signature.name, inheritedFrom: superclass)
      if let inherited, inherited.signature.parameters != signature.parameters || inherited.signature.result != signature.result {
        throw .member(signature.name, of: self.name, reason: "'\(inherited.callable.selector)' is inherited, with other types")
      }
      let made = try AddedMethod(signature, in: typeName, over: inherited)
      added[signature.name] = made
      return made
    }
    guard method.publish(spec(method)) else { throw .noMemory }
  }

  /// The method that the class, or one it inherits from, added under this name, given with or without types.
  package static func added(_ name: String, inheritedFrom superclass: Metadata) -> AddedMethod? {
    let plain = (try? MethodSignature(text: name))?.name ?? name
    return superclass.classChain.lazy.compactMap { (RuntimeMembers.with($0) as? RuntimeClass)?.addedMethod(plain) }.first
  }

  /// Objects of the superclass have a member of this name, which can be overridden if anything can.
  package static func inherits(_ name: String, _ superclass: Metadata) -> Bool {
    if case .success = ClassMember.find(name, in: superclass, suggesting: false) { true } else { false }
  }

  // MARK: Members of protocols

  /// A member that instances have by a protocol they are made to conform to.
  struct Implemented: Sendable {
    let declaration: Declaration
    /// `describe()`, `name.get`
    let name: String
    let callable: Callable
  }

  /// Makes them found by calls by name. To be called once, before there are instances.
  func implements(_ members: [Implemented]) { lock.withLock { implemented = members } }

  /// The function that a member's name, or its whole selector, means.
  func implementedMember(_ name: String) -> Callable? {
    lock.withLock { implemented.first { $0.name == name || $0.callable.selector == name }?.callable }
  }

  /// What a name after a dot means.
  func implementedMember(base: String) -> CallableLookup.Member? {
    let found = lock.withLock { implemented.filter { $0.declaration.name == base && !$0.declaration.isSubscript } }
    func accessor(_ kind: EntityKind) -> Callable? { found.first { $0.declaration.kind == kind }?.callable }
    if let getter = accessor(.getter) {
      return .property(get: .success(getter), set: accessor(.setter).map { .success($0) }, isObserved: false)
    }
    let methods = found.map(\.callable.selector)
    return methods.isEmpty ? nil : .methods(methods)
  }

  /// A member of the superclass, or of one it inherits from, that a name without types may have been meant for.
  package static func inherited(near name: String, _ superclass: Metadata) -> String? {
    if name.contains(": ") || name.contains("->") { return nil }
    return superclass.classChain.lazy.compactMap { owner in owner.declaredName.flatMap { NearestNames.members(of: $0, like: name).first } }
      .first
  }

  /// The added method `discount(for:)`.
  func addedCallable(_ name: String) -> Callable? { addedMethod(name)?.callable }
  func addedSelectors(base: String) -> [String] { addedMethods(base: base).map(\.callable.selector) }
  package func addedMethod(_ name: String) -> AddedMethod? { lock.withLock { added[name] } }
  /// Those whose name before the parenthesis is `base`.
  package func addedMethods(base: String) -> [AddedMethod] {
    lock.withLock { added.values.filter { $0.declaration.name == base }.sorted { $0.signature.name < $1.signature.name } }
  }

  /// Overridden members do what the superclass's do, from now on, and added methods throw; nothing is done any more when
  /// instances end.
  /// - Parameter who: nothing happens when somebody else defined the members since.
  package func withdraw(by who: AnyObject? = nil) {
    lock.withLock {
      if let who, definer != ObjectIdentifier(who) { return }
      for member in members.values { member.synthesizedMethod.publish(nil) }
      for method in added.values { _ = method.publish(nil) }
      ending?.publish(nil)
      definer = nil
      isWithdrawn = true
    }
  }

  // MARK: The beginning of instances

  /// Whoever makes an instance through the table (`required` initialisers of a metatype, convenience initialisers of the
  /// superclass) makes the added properties, too.
  private func addAllocators() throws(NewTypeError) {
    for type in superclass.classChain {
      guard let table = type.descriptor?.virtualTable else { continue }
      for index in 0..<table.count where table.kind(index) == 1 {
        let slot = table.offset + index
        if SynthesizedMethods.isOurs(words[slot]) { continue }
        guard let initializer = InstanceMaker.initializer(of: words[slot]) else {
          throw .superclass(
            superclass.name,
            reason: "an initialiser that other code may call has no form that takes memory of ours, so properties cannot be added")
        }
        words[slot] = try InstanceMaker.allocator(at: metadata.pointer + 8 * slot, allocating: words[slot], initializer: initializer)
      }
    }
  }

  // MARK: The end of instances

  /// Makes `spec`, a `before` layer, run when an instance ends, before its properties do. It must not keep the object.
  package func atEnd(_ spec: (Family) -> LayerSpec) throws(NewTypeError) {
    let declaration = typeName.deinitialiser
    let synthesizedMethod = try lock.withLock { () throws(NewTypeError) in
      if let ending { return ending }
      let made = try SynthesizedMethod(
        at: metadata.pointer + 8 * NewClassMetadata.destroyer, original: words[NewClassMetadata.destroyer],
        plan: CallPlanner().plan(declaration))
      words[NewClassMetadata.destroyer] = made.word
      ending = made
      return made
    }
    guard synthesizedMethod.publish(spec(.standing(for: declaration))) else { throw .noMemory }
  }

  /// Where an instance has an added property.
  package func place(of field: String, in object: UnsafeMutableRawPointer) -> (UnsafeMutableRawPointer, TypeInfo)? {
    guard let index = fields.firstIndex(where: { $0.name == field }) else { return nil }
    return (object + words.fields[index].offset, fields[index].info)
  }

  /// Gives the added properties of a new instance, and of the runtime classes it inherits from, their first values.
  func initializeFields(of object: UnsafeMutableRawPointer) {
    for (field, layout) in zip(fields, words.fields) { field.initialize(object + layout.offset) }
  }

  /// Ends the values of the properties that this class added to the object.
  private func destroyFields(of object: UnsafeMutableRawPointer) {
    for (field, layout) in zip(fields, words.fields) where !field.info.isTrivial { field.info.metadata.destroy(object + layout.offset) }
  }

  /// The class's destroyer does its part and goes on to the superclass's; that of variables alone, which the runtime runs when
  /// an initialiser of the superclass fails, returns.
  private func addDestroyers() throws(NewTypeError) {
    let identity = Unmanaged.passRetained(self).toOpaque()
    let whole = try SynthesizedMethod.prepare(at: metadata.pointer + 8 * NewClassMetadata.destroyer, former: words[NewClassMetadata.destroyer])
    whole.site.pointee.owner = identity
    whole.site.pointee.handler = { frame, site in
      RuntimeClass.end(frame!, site!)
      return HKT_CONTINUE
    }
    hkt_enable(whole.site)
    words[NewClassMetadata.destroyer] = UInt(whole.ours)
    if fields.isEmpty { return }
    let variables = try SynthesizedMethod.prepare(at: metadata.pointer + 8 * NewClassMetadata.variableDestroyer, former: UInt(whole.former))
    variables.site.pointee.owner = identity
    variables.site.pointee.handler = { frame, site in
      RuntimeClass.end(frame!, site!)
      return HKT_RETURN
    }
    hkt_enable(variables.site)
    words[NewClassMetadata.variableDestroyer] = UInt(variables.ours)
  }

  /// The object ends: what its class added ends first, then the superclass's `deinit` runs.
  private static func end(_ frame: UnsafeMutablePointer<HKTFrame>, _ site: UnsafeMutablePointer<HKTSite>) {
    guard let object = UnsafeMutableRawPointer(bitPattern: UInt(frame.pointee.self_register)) else { return }
    // The class retained itself for its sites, and lives for ever.
    let type = Unmanaged<RuntimeClass>.fromOpaque(site.pointee.owner).takeUnretainedValue()
    type.destroyFields(of: object)
  }
}
