// Family — a selector and every body the compiler made of it.
package import SwiftMangling

/// What is passed on far more often than it is made: one reference, whatever is behind it.
final class Kept<Value: Sendable>: Sendable {
  let value: Value
  init(_ value: Value) { self.value = value }

  func changed(_ body: (inout Value) -> Void) -> Kept {
    var value = value
    body(&value)
    return Kept(value)
  }
}

/// One machine-code body of a selector.
package struct Body: Sendable {
  /// A changed body has another.
  private var kept: Kept<Facts>

  package enum Form: Hashable, Sendable {
    case base
    /// `Tf…`: arguments dropped, exploded, or owned differently
    case signatureClone
    /// `Tg…`, `TG…`, `Ts…`: generic arguments filled in
    case genericClone
    /// `Tm`: several equal bodies became one with extra arguments
    case merged
    /// `TA`: a closure's partial application, which alone enters its merged body
    case forwarder
    /// The initialising form (`fc`) beside the allocating one
    case initialising
    /// Only jumps to a body of another selector, with which it shares the code
    case sharesCodeOf(String)
    /// No body at all: a word through which an image calls a C function
    case importSlot
    /// What a table holds for it where calls have another convention: `of Shop.Cart.total(tax:)`
    case thunk(String)
    /// A conformance's table holds a copy of it: `of Shop.CartDelegate.cartDidChange(_:) for Cart`
    case witness(String)
  }

  private struct Facts: Sendable {
    // What each installation reads comes first: the rest may be far from it.
    var address: UInt64
    var size: Int
    var available: Int
    var thunks: [MergeThunk] = []
    var isUnidentified = false
    /// What `declaration` and `mangledName` say, kept since it is asked often.
    var isAsync = false, isReachedByKind = false, isReachedByName = false
    var form: Form
    var passage: MergePassage?
    var way = Way()
    var mangledName: String
    var declaration: Declaration
    var unidentifiedSource: UnidentifiedSource?
    var place: ImportPlace?

    mutating func see() {
      isAsync = declaration.isAsync
      isReachedByKind = declaration.kind.isOtherForm
      isReachedByName = mangledName.hasSuffix("Tm") || mangledName.holds("Tf4")
    }
  }

  package init(form: Form, declaration: Declaration, mangledName: String, address: UInt64, size: Int, available: Int) {
    var facts = Facts(
      address: address, size: size, available: available, form: form, mangledName: mangledName, declaration: declaration)
    facts.see()
    kept = Kept(facts)
  }

  private mutating func change(_ body: (inout Facts) -> Void) { kept = kept.changed(body) }

  package var form: Form {
    _read { yield kept.value.form }
    set { change { $0.form = newValue } }
  }
  package var declaration: Declaration {
    _read { yield kept.value.declaration }
    set {
      change {
        $0.declaration = newValue
        $0.see()
      }
    }
  }
  package var mangledName: String {
    _read { yield kept.value.mangledName }
    set {
      change {
        $0.mangledName = newValue
        $0.see()
      }
    }
  }
  /// In this process (biased); the file's virtual address when nothing is running.
  package var address: UInt64 {
    get { kept.value.address }
    set { change { $0.address = newValue } }
  }
  package var size: Int {
    get { kept.value.size }
    set { change { $0.size = newValue } }
  }
  /// Bytes from the body's start to the next symbol.
  package var available: Int {
    get { kept.value.available }
    set { change { $0.available = newValue } }
  }
  /// Of a merged body: how calls of this selector are recognised, one for each of its bodies that were merged.
  package var thunks: [MergeThunk] {
    _read { yield kept.value.thunks }
    set { change { $0.thunks = newValue } }
  }
  /// The merged body that it goes through, which has no other callers and is no body of the family.
  var passage: MergePassage? {
    _read { yield kept.value.passage }
    set { change { $0.passage = newValue } }
  }
  /// Where its code takes the calls that enter it.
  var way: Way {
    _read { yield kept.value.way }
    set { change { $0.way = newValue } }
  }
  /// It stands in a conformance's table.
  var isWitness: Bool { if case .witness = kept.value.form { true } else { false } }
  /// Of a merged body: calls of this selector enter it that no thunk tells.
  package var isUnidentified: Bool {
    get { kept.value.isUnidentified }
    set { change { $0.isUnidentified = newValue } }
  }
  package var unidentifiedSource: UnidentifiedSource? {
    _read { yield kept.value.unidentifiedSource }
    set { change { $0.unidentifiedSource = newValue } }
  }
  /// Of an import slot: which one.
  package var place: ImportPlace? {
    _read { yield kept.value.place }
    set { change { $0.place = newValue } }
  }
  /// Nothing may stand on the stack while it runs: hooks come before it only.
  var isLeftByJump: Bool {
    guard case .importSlot = kept.value.form else { return false }
    return place.map { ImportedFunction.beforeOnly($0.slot.symbol) != nil } ?? false
  }
  /// Its calls are async, as `declaration` has it.
  var isAsync: Bool { kept.value.isAsync }
  /// Others may hand their calls on to it, besides those that pass its address. Of a generic function's many clones, none does.
  var isReached: Bool { kept.value.isReachedByKind || kept.value.isReachedByName || !thunks.isEmpty }

  /// Whether an entry of `other` from this body is this body's own call.
  package func forwards(to other: Body) -> Bool { ForwardFacts(self).goes(to: ForwardFacts(other)) }
}

extension Body {
  /// Others may be handed its calls by the addresses that it passes.
  var passesAddresses: Bool { !thunks.isEmpty || passage != nil || !way.forwardsTo.isEmpty }

  /// What it passes, and where it jumps to: addresses of bodies are among it.
  func forEachPassedValue(_ body: (UInt64) -> Void) {
    way.forwardsTo.forEach(body)
    for thunk in thunks { for constant in thunk.constants { body(constant.value) } }
    if let passage { for constant in passage.thunk.constants { body(constant.value) } }
  }
}

extension EntityKind {
  /// What an allocating initialiser or a deallocating deinit ends in.
  var isOtherForm: Bool {
    switch self {
    case .`init`, .`deinit`: true
    default: false
    }
  }
}

/// What of a body tells whether it forwards its calls: of many bodies each is held against each, and a whole one is dear to copy.
final class ForwardFacts: Sendable {
  let mangledName: String
  let address: UInt64
  let kind: EntityKind
  let thunks: [MergeThunk]
  let passage: MergePassage?
  private let forwardsTo: [UInt64]
  /// An async function that stands in a conformance's table. One that is not async and calls the method is no body of the family;
  /// what an async one calls is seen in the call alone, as its code goes through a record.
  private let isAsyncWitness: Bool
  private let isWitness: Bool
  private let length: Int

  init(_ body: Body) {
    (mangledName, address, kind, thunks) = (body.mangledName, body.address, body.declaration.kind, body.thunks)
    passage = body.passage
    forwardsTo = body.way.forwardsTo
    isWitness = body.isWitness
    isAsyncWitness = isWitness && body.isAsync
    length = mangledName.utf8.count
  }

  /// The numbers of the names of bodies that may hand their calls on to this one, as `goes` has it, besides those that pass its
  /// address or end in it.
  static func sources(of body: Body) -> [UInt64] {
    var numbers = body.thunks.flatMap { $0.callers.map { NameHash.of($0) } }
    var own = body.mangledName
    own.withUTF8 { name in
      func add(_ end: Int) { numbers.append(NameHash.of(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: name[..<end])))) }
      for end in name.indices.dropLast(2) where name[end] == 0x54 && name[end + 1] == 0x66 && name[end + 2] == 0x34 { add(end) }  // Tf4
      if name.count >= 2, name[name.count - 2] == 0x54, name[name.count - 1] == 0x6D { add(name.count - 2) }  // Tm
    }
    return numbers
  }

  /// Function signature optimisation (pass 4) leaves a thunk that calls the clone, merging does too, and an allocating
  /// initialiser or a deallocating deinit ends in the other form. All other passes keep a whole body: what that calls,
  /// it calls as anybody would.
  func goes(to other: ForwardFacts) -> Bool {
    if other.thunks.contains(where: { $0.callers.contains(mangledName) }) { return true }
    // Merged thunks differ in the clone they call: its address is one of the constants.
    if thunks.contains(where: { $0.passes(other.address) }) || passes(other) { return true }
    if forwardsTo.contains(other.address) || isAsyncWitness && !other.isWitness { return true }
    if ends(in: other) { return true }
    guard other.length > length, other.mangledName.hasPrefix(mangledName) else { return false }
    let step = other.mangledName.utf8.dropFirst(length)
    return step.starts(with: "Tf4".utf8) || step.elementsEqual("Tm".utf8)
  }

  /// An allocating initialiser ends in the initialising one, a deallocating deinit in what destroys.
  func ends(in other: ForwardFacts) -> Bool {
    switch (kind, other.kind) {
    case (.allocatingInit, .`init`), (.deallocatingDeinit, .`deinit`), (.isolatedDeinit, .`deinit`): true
    default: false
    }
  }

  /// The merged body that this one goes through is made to call the other.
  func passes(_ other: ForwardFacts) -> Bool { passage?.thunk.passes(other.address) ?? false }
}

/// Of a merged body that no thunk tells: the body that hands the selector's calls on to it.
package struct UnidentifiedSource: Sendable {
  var mangledName: String
  /// What it fills for that, as HKTThunk numbers places.
  var places: UInt64
}

/// A selector: what a name means, and the bodies that carry it out.
package struct Family: Sendable {
  package var bodies: [Body]
  // Requests are copied from list to list, a thousand at once.
  private var facts: Kept<Facts>
  private var required: Kept<Declaration>?
  private var importing: Kept<ImportedFunction>?

  private struct Facts: Sendable {
    var selector: String, key: String, imagePath: String
    var declaration: Declaration
  }

  package init(selector: String, declaration: Declaration, key: String, imagePath: String, bodies: [Body]) {
    facts = Kept(Facts(selector: selector, key: key, imagePath: imagePath, declaration: declaration))
    self.bodies = bodies
  }

  private mutating func change(_ body: (inout Facts) -> Void) { facts = facts.changed(body) }

  /// `Shop.Cart.add(_:price:quantity:)`
  package var selector: String {
    _read { yield facts.value.selector }
    set { change { $0.selector = newValue } }
  }
  /// Equal for all bodies; unique in the image.
  package var key: String {
    _read { yield facts.value.key }
    set { change { $0.key = newValue } }
  }
  package var imagePath: String {
    _read { yield facts.value.imagePath }
    set { change { $0.imagePath = newValue } }
  }
  package var declaration: Declaration {
    _read { yield facts.value.declaration }
    set { change { $0.declaration = newValue } }
  }
  /// Some of its bodies are async, as the witness of an async requirement is whose method is not.
  package var hasAsyncBodies: Bool { declaration.isAsync || bodies.contains(where: \.isAsync) }
  /// The protocol's requirement that it was asked for as one of.
  package var requirement: Declaration? {
    get { required?.value }
    set { required = newValue.map { Kept($0) } }
  }
  /// A C function, whose bodies are words of the images that import it.
  package var imported: ImportedFunction? {
    get { importing?.value }
    set { importing = newValue.map { Kept($0) } }
  }
  var isImported: Bool { importing != nil }

  /// Nothing may stand on the stack while it runs: hooks come before it only.
  package var isBeforeOnly: Bool { imported.map { ImportedFunction.beforeOnly($0.name) != nil } ?? declaration.neverReturns }

  /// Reads addresses where they are: going through the bodies copies each.
  func hasBody(at address: UInt64) -> Bool { bodies.indices.contains { bodies[$0].address == address } }

  package var typedSelector: String {
    if let imported { return imported.prototype?.description ?? selector }
    return declaration.typedName(qualified: false)
  }
}

/// Why a selector or one body of it is not hooked.
package enum HookRefusal: Error, Equatable, Sendable {
  case runtimeMachinery(String)
  /// The code itself cannot be diverted.
  case code(InterceptRefusal)
  /// Nothing of the selector is left in the program: every call was inlined, or it is not compiled in.
  case noBody
  case sharedBody(with: String)
  case resultNotObservable(String)
  /// The handler runs to its end at once, the original of an async function does not.
  case cannotWait
  case noMemory
  /// `deinit` takes before and after only.
  case aroundDeinit
  /// An access that the original began only it can end.
  case aroundCoroutine
  /// One body for several selectors, distinguished by extra arguments.
  case mergedBody
  /// It cannot be for the class or object it was asked for.
  case scope(ScopeRefusal)
  /// The back end that was asked for cannot divert the selector's calls.
  case backEnd(BackEnd, BackEndRefusal)
  /// Another copy of this library, part of that image, hooks functions of the process.
  case otherCopy(String)
  /// The library was closed since the selector was looked up.
  case imageGone(String)
  /// The process is a copy that fork made.
  case forked(String)
  /// A C function, or an importing image, that is left alone; a sentence.
  case notHookable(String)
  /// A function that allocates memory; handlers do.
  case allocation
  /// A C function whose calls are left by a jump; a sentence.
  case beforeOnly(String)
  /// Hooked with another prototype.
  case otherPrototype(String)
  /// It appeared after the hook was asked for, and the handler is not for it; a sentence.
  case unfit(String)
  /// Who asks for it may not; a sentence.
  case policy(String)

  /// A stable word for tables and filters.
  package var code: String {
    switch self {
    case .runtimeMachinery: "runtime"
    case .code(let refusal): refusal.code
    case .noBody: "no-body"
    case .sharedBody: "shared-body"
    case .resultNotObservable: "result-not-observable"
    case .cannotWait: "cannot-wait"
    case .noMemory: "no-memory"
    case .aroundDeinit: "around-deinit"
    case .aroundCoroutine: "around-coroutine"
    case .mergedBody: "merged-body"
    case .scope(let reason): reason.code
    case .backEnd(_, let reason): reason.code
    case .otherCopy: "other-copy"
    case .forked: "forked"
    case .imageGone: "image-gone"
    case .notHookable: "not-hookable"
    case .allocation: "allocation"
    case .beforeOnly: "before-only"
    case .otherPrototype: "other-prototype"
    case .unfit: "unfit"
    case .policy: "policy"
    }
  }
}

extension HookRefusal {
  /// The function's code is what stands in the way: where calls come through data, it does not matter.
  var isOfEntries: Bool {
    switch self {
    case .code(let refusal): refusal.isLasting
    case .sharedBody, .mergedBody, .scope(.selfRemoved): true
    default: false
    }
  }
}

extension Declaration {
  /// Why nothing stands in the original's place, whatever the program's code is.
  package var refusesAround: HookRefusal? { kind.isDeinit ? .aroundDeinit : isCoroutine ? .aroundCoroutine : nil }
}

extension HookRefusal: CustomStringConvertible {
  package var description: String {
    switch self {
    case .runtimeMachinery(let image): "it belongs to the Swift runtime's own machinery (\(image)), which is never hooked"
    case .code(let refusal): refusal.description
    case .noBody: "no body of it is left in the program: every call was inlined"
    case .sharedBody(let other): "its code is shared with '\(other)', which is hooked already"
    case .cannotWait: "an 'around' closure cannot wait for an async function; use 'before' and 'after'"
    case .resultNotObservable(let why): "only 'before' can be hooked: \(why)"
    case .noMemory: "out of memory"
    case .aroundDeinit: "a 'deinit' must run exactly once; use 'before' (self can be read) or 'after'"
    case .aroundCoroutine: "an access that the original begins only the original can end; use 'before' and 'after'"
    case .scope(let reason): reason.description
    case .backEnd(let backEnd, let reason): "the back end '\(backEnd.rawValue)' cannot divert it: \(reason)"
    case .otherCopy(let image):
      "another copy of ScriptHost, in \(image), hooks functions of this process; use that one, or start the program without it"
    case .imageGone(let path): "its library \(path) was closed"
    case .forked(let reason): "hooks cannot be changed in this forked process: \(reason)"
    case .notHookable(let why), .unfit(let why), .policy(let why): why
    case .allocation:
      "it allocates memory, and so do handlers; only Swift and C layers that say they never allocate or wait may stand before it"
    case .beforeOnly(let why): "only 'before' can be hooked: \(why)"
    case .otherPrototype(let other): "it is hooked as '\(other)'; spell it the same"
    case .mergedBody: "the compiler merged it with the bodies of other selectors, and a call does not tell whose it is"
    }
  }
}
