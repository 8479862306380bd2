// Observer — one observation: the hooks on what writes the properties of its path, and what it tells.
//
// Invariants:
//   1. Segment i is watched on the object that segments 0..<i lead to, or not at all where they lead to none.
//   2. Of writes inside one another on one thread (an override that sets its superclass's property, a computed property's
//      in-place change that ends in its setter) the innermost is reported, once.
internal import CHookTrampoline
private import SwiftMangling
private import Synchronization

package final class Observer: @unchecked Sendable {
  // What changes is in `state`; all else is set in init.

  /// A change, valid for the time of the call it is reported in.
  package struct Change {
    /// The object whose property changed: the first of the path; 0 for a static property.
    package let object: UInt
    /// nil where the path led to no value, or where it could not be read at that moment.
    package let old: OwnedValue?
    package let new: OwnedValue?
    /// Changed where it lies (`x.n += 1`, `append`), not set.
    package let isInPlace: Bool
  }

  /// Whose property it is.
  package enum Subject {
    case object(AnyObject)
    /// All instances, those of subclasses included.
    case instances(of: Metadata)
    case statics(of: Metadata)
  }

  private struct State {
    var isOver = false
    /// It ended with its object or its guardian, not because somebody ended it.
    var endedByItself = false
    var watched: [Watched?]
    var unseen: [String] = []
    var seen: [String] = []
    /// Objects whose end is reported, by the segment whose weak property refers to them.
    var endings: [Ending] = []
  }
  private struct Ending: Equatable {
    let segment: Int
    let object: UInt
  }
  private struct Watched {
    var object: UInt
    var tokens: [HookToken]
  }

  private let state: Mutex<State>
  private let binding = RecursiveLock()
  private let path: PropertyPath
  package var leaf: TypeInfo { path.leaf }
  /// The path as it was spelled.
  var text: String { path.text }
  private let owner: String
  private weak var guardian: AnyObject?
  /// The object that is observed; nil for a type, and once it has ended.
  private weak var first: AnyObject?
  private let hasFirst: Bool
  private let hasGuardian: Bool
  private let body: (Change) -> Void
  /// What was made for it by who observes.
  package weak var holder: AnyObject?

  /// - Parameters:
  ///   - owner: whose hooks they are.
  ///   - guardian: the observation ends with this object, when there is one.
  ///   - body: called on the thread that wrote, after the write.
  package init(
    _ subject: Subject, _ text: String, owner: String, guardian: AnyObject? = nil, _ body: @escaping (Change) -> Void
  ) throws(ObserveError) {
    self.owner = owner
    self.guardian = guardian
    hasGuardian = guardian != nil
    self.body = body
    if case .object(let object) = subject { (first, hasFirst) = (object, true) } else { hasFirst = false }
    switch subject {
    case .object(let object): path = try PropertyPath(text, of: Metadata(Swift.type(of: object) as Any.Type))
    case .instances(let type): path = try PropertyPath(text, of: type)
    case .statics(let type): path = try PropertyPath(text, of: type, isStatic: true)
    }
    state = Mutex(State(watched: Array(repeating: nil, count: path.segments.count)))
    switch subject {
    case .object(let object):
      // Alive as the argument is; the watch itself holds it by identity only.
      try watch(0, object)
      bind(from: 1)
      watchEndings()
    case .instances(let type), .statics(let type):
      guard path.segments.count == 1 else {
        throw .badPath(text, reason: "a path through several objects begins at an object, not at a type")
      }
      var isStatic = false
      if case .statics = subject { isStatic = true }
      try watch(type, isStatic: isStatic)
    }
  }

  /// What is seen of the writes, and what cannot be.
  package var explanation: String {
    state.withLock { state in
      (["observes  \(path.text)"] + state.seen.uniqued().map { "  seen     \($0)" } + state.unseen.uniqued().map { "  unseen   \($0)" })
        .joined(separator: "\n")
    }
  }

  /// What is written without being reported, in words.
  package var misses: [String] { state.withLock { Array($0.unseen.uniqued()) } }

  package var isOver: Bool { state.withLock { $0.isOver } }
  /// It was over because its object or its guardian had ended.
  package var endedByItself: Bool { state.withLock { $0.endedByItself } || (hasFirst && first == nil) || (hasGuardian && guardian == nil) }

  /// Nothing that is written later is reported. Answers false when it was over before.
  /// - Parameter byItself: its object or its guardian has ended.
  @discardableResult
  package func end(byItself: Bool = false) -> Bool {
    let tokens: [HookToken]? = state.withLock { state in
      if state.isOver { return nil }
      state.isOver = true
      state.endedByItself = byItself
      let all = state.watched.flatMap { $0?.tokens ?? [] }
      state.watched = state.watched.map { _ in nil }
      return all
    }
    guard let tokens else { return false }
    for token in tokens { HookEngine.shared.remove(token) }
    return true
  }

  // MARK: Watching

  private func watch(_ segment: Int, _ object: AnyObject) throws(ObserveError) {
    let property = try ObservedProperty.named(path.segments[segment].property, of: Metadata(Swift.type(of: object) as Any.Type))
    if segment + 1 < path.segments.count, property.field?.isVar == false {
      // A 'let' leads to one object for ever: what changes lies behind it.
      return keep(Watched(object: UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()), tokens: []), segment)
    }
    let tokens = try install(property, property.writers(withSubclasses: false), segment, .object(object))
    keep(Watched(object: UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque()), tokens: tokens), segment)
  }

  private func watch(_ type: Metadata, isStatic: Bool) throws(ObserveError) {
    let property = try ObservedProperty.named(path.segments[0].property, of: type, isStatic: isStatic)
    keep(Watched(object: 0, tokens: try install(property, property.writers(withSubclasses: !isStatic), 0, .type)), 0)
  }

  private func keep(_ watched: Watched, _ segment: Int) {
    let late: [HookToken] = state.withLock { state in
      if state.isOver { return watched.tokens }
      state.watched[segment] = watched
      return []
    }
    for token in late { HookEngine.shared.remove(token) }
  }

  private func install(
    _ property: ObservedProperty, _ writers: ObservedProperty.Writers, _ segment: Int, _ scope: HookScope
  ) throws(ObserveError) -> [HookToken] {
    let name = "\(property.type.name).\(property.name)"
    guard !writers.found.isEmpty else {
      throw .invisible(
        name,
        reason: property.field.map { $0.isVar } == false
          ? "it is a 'let' and never changes" : "the program has no setter of it: it is never set, or every write was inlined")
    }
    let report = HookEngine.shared.install(
      writers.found.map { HookRequest(image: $0.image, family: $0.family, scope: scope) }
    ) { family in
      let isSetter = family.declaration.kind == .setter
      let watch = Watch(self, segment, property)
      return LayerSpec(
        isSetter ? setLayer : modifyLayer, keeping: watch,
        phases: UInt32(isSetter ? HKT_ON_AROUND : HKT_ON_EXIT), priority: .min, isHostWork: false, owner: owner)
    }
    guard !report.tokens.isEmpty else {
      throw .invisible(
        name, reason: report.refused.first.map { "'\($0.selector)': \($0.reason)" } ?? "nothing that writes it can be hooked")
    }
    state.withLock { state in
      state.seen += report.tokens.map { "\($0.token.selector)" }
      state.unseen += writers.unseen
      state.unseen += report.refused.map { "'\($0.selector)': \($0.reason)" }
      state.unseen += report.partial.map { "\($0.of - $0.hooked) of \($0.of) bodies of '\($0.selector)'" }
    }
    return report.tokens.map(\.token)
  }

  /// Watches the objects that the path leads through from segment `first` on.
  private func bind(from first: Int) {
    binding.withLock {
      for segment in first..<max(first, path.segments.count) {
        let next = object(before: segment)
        let stale: [HookToken]? = state.withLock { state in
          if state.isOver { return nil }
          let known = state.watched[segment]
          let address = next.map { UInt(bitPattern: Unmanaged.passUnretained($0).toOpaque()) }
          if let known, known.object == address { return nil }
          state.watched[segment] = nil
          return known?.tokens ?? []
        }
        guard let stale else { continue }
        for token in stale { HookEngine.shared.remove(token) }
        guard let next else { continue }
        do throws(ObserveError) { try watch(segment, next) } catch { state.withLock { $0.unseen.append(error.description) } }
      }
    }
  }

  /// The object whose property a segment is.
  private func object(before segment: Int) -> AnyObject? {
    let start = state.withLock { $0.watched[segment - 1]?.object } ?? 0
    guard start != 0 else { return nil }
    return withEnd(of: segment - 1...segment - 1, from: start) { memory, info in
      let word = PropertyPath.object(memory, info)
      // Alive as the value that was read is; the answer retains it.
      return UnsafeRawPointer(bitPattern: word).map { Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue() }
    } ?? nil
  }

  // MARK: Reading

  /// What segments lead to, from an object on: given to `body` for its time.
  private func withEnd<R>(of segments: ClosedRange<Int>, from object: UInt, _ body: (UnsafeRawPointer, TypeInfo) -> R) -> R? {
    guard object != 0 || segments.lowerBound == 0 else { return nil }
    guard let property = property(segments.lowerBound, of: object), let value = property.read(object) else { return nil }
    defer { value.destroy() }
    return withEnd(of: segments, behind: value, body)
  }

  /// Gives `body` the memory of the value at the end of the path's segments, from the object or value they begin with; nil where one on the way is
  /// nil.
  private func withEnd<R>(of segments: ClosedRange<Int>, behind value: OwnedValue, _ body: (UnsafeRawPointer, TypeInfo) -> R) -> R? {
    PropertyPath.follow(path.segments[segments.lowerBound].fields[...], value.memory, value.info) { memory, info -> R? in
      guard segments.lowerBound < segments.upperBound else { return body(memory, info) }
      let next = PropertyPath.object(memory, info)
      return next == 0 ? nil : withEnd(of: segments.lowerBound + 1...segments.upperBound, from: next, body)
    } ?? nil
  }

  private func property(_ segment: Int, of object: UInt) -> ObservedProperty? {
    guard let pointer = UnsafeRawPointer(bitPattern: object) else { return nil }
    return try? ObservedProperty.named(path.segments[segment].property, of: Metadata(pointer.load(as: UnsafeRawPointer.self)))
  }

  /// The value at the path's end, behind the property of a segment; the caller's.
  fileprivate func end(from segment: Int, behind value: OwnedValue?) -> OwnedValue? {
    guard let value else { return nil }
    return withEnd(of: segment...path.segments.count - 1, behind: value) { memory, info in
      // The end of a path through Optionals is as declared: what leads nowhere has no value.
      let copy = OwnedValue(uninitialized: info)
      info.metadata.initialize(copy.memory, copying: memory)
      Behaviour.showTarget(in: copy)
      return copy
    }
  }

  // MARK: Telling

  fileprivate func tell(_ segment: Int, _ object: UInt, _ old: OwnedValue?, _ new: OwnedValue?, isInPlace: Bool) {
    defer {
      old?.destroy()
      new?.destroy()
    }
    if isOver { return }
    if hasGuardian, guardian == nil {
      end(byItself: true)
      return
    }
    // The objects further in may outlive the one that is observed.
    let first = first
    if hasFirst, first == nil {
      end(byItself: true)
      return
    }
    if segment + 1 < path.segments.count { bind(from: segment + 1) }
    watchEndings()
    let address = first.map { UInt(bitPattern: Unmanaged.passUnretained($0).toOpaque()) } ?? object
    withExtendedLifetime(first) { body(Change(object: address, old: old, new: new, isInPlace: isInPlace)) }
  }

  // MARK: Weak steps

  /// The object that a weak property on the way refers to may end, which no setter tells.
  private func watchEndings() {
    guard hasFirst else { return }
    for segment in path.segments.indices {
      guard let start = state.withLock({ $0.watched[segment]?.object }), start != 0 else { return }
      guard let property = property(segment, of: start), property.field?.reference == .weak, let value = property.read(start) else { continue }
      defer { value.destroy() }
      let address = PropertyPath.object(value.memory, value.info)
      guard let object = UnsafeRawPointer(bitPattern: address).map({ Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue() }) else {
        continue
      }
      watchEnd(of: object, Ending(segment: segment, object: address), "\(property.type.name).\(property.name)")
    }
  }

  private func watchEnd(of object: AnyObject, _ ending: Ending, _ name: String) {
    let isNew = state.withLock { state in
      if state.isOver || state.endings.contains(ending) { return false }
      state.endings.append(ending)
      return true
    }
    guard isNew else { return }
    let isSeen = ObjectEndings.watch(object) { [weak self] in self?.ended(ending) }
    if !isSeen { state.withLock { $0.unseen.append("the end of the object that the weak '\(name)' refers to") } }
  }

  /// The object ends: weak references to it read nil already.
  private func ended(_ ending: Ending) {
    let isThere = state.withLock { state in
      state.endings.removeAll { $0 == ending }
      return state.watched[ending.segment] != nil
    }
    guard isThere, !isOver else { return }
    // The property may refer to another one by now.
    let start = state.withLock { $0.watched[ending.segment]?.object } ?? 0
    if let property = property(ending.segment, of: start), let value = property.read(start) {
      defer { value.destroy() }
      if PropertyPath.object(value.memory, value.info) != 0 { return }
    }
    tell(ending.segment, start, nil, nil, isInPlace: false)
  }
}

/// What a layer knows.
private final class Watch: Sendable {
  let observer: Observer
  let segment: Int
  private let property: ObservedProperty

  init(_ observer: Observer, _ segment: Int, _ property: ObservedProperty) {
    self.observer = observer
    self.segment = segment
    self.property = property
  }

  func value(_ object: UInt) -> OwnedValue? {
    guard let value = property.read(object) else { return nil }
    defer { value.destroy() }
    return observer.end(from: segment, behind: value)
  }

  /// An access that is open, until it ends.
  final class OpenAccess {
    let watch: Watch
    let object: UInt
    let old: OwnedValue?
    let window: UnsafeMutablePointer<HKTWindow>
    init(_ watch: Watch, _ object: UInt, _ old: OwnedValue?) {
      self.watch = watch
      self.object = object
      self.old = old
      window = .allocate(capacity: 1)
      window.initialize(to: watch.window(object))
    }
    deinit { window.deallocate() }
  }

  func window(_ object: UInt) -> HKTWindow {
    HKTWindow(up: nil, subject: Unmanaged.passUnretained(observer).toOpaque(), object: UInt64(object), is_reported: false)
  }

  /// Tells the change unless a write inside this one did.
  func close(_ window: UnsafeMutablePointer<HKTWindow>, _ object: UInt, _ old: OwnedValue?, isInPlace: Bool) {
    hkt_window_pop(window)
    guard !window.pointee.is_reported else {
      old?.destroy()
      return
    }
    hkt_windows_report(window.pointee.subject, window.pointee.object)
    observer.tell(segment, object, old, value(object), isInPlace: isInPlace)
  }
}

/// The watch that the layer's context is.
private func watch(_ context: UnsafeMutableRawPointer?) -> Watch {
  // The context is the watch that `install` retained for this layer.
  Unmanaged<Watch>.fromOpaque(context!).takeUnretainedValue()
}

private let setLayer: HKTLayerFunction = { call, context, _ in
  let call = call!
  let watch = watch(context)
  let object = UInt(bitPattern: CallView(call).selfObject)
  let old = watch.value(object)
  var window = watch.window(object)
  withUnsafeMutablePointer(to: &window) { window in
    hkt_window_push(window)
    hkt_call_proceed(call)
    watch.close(window, object, old, isInPlace: false)
  }
  return HKT_HANDLED
}

/// The access has begun: what it yields is the value as it was.
private let modifyLayer: HKTLayerFunction = { call, context, _ in
  let call = call!
  let watch = watch(context)
  let view = CallView(call)
  let object = UInt(bitPattern: view.selfObject)
  let result = view.plan.result
  var yielded: OwnedValue?
  if let info = result.info {
    yielded = view.reader.withMemory(result.location, info, isResult: true) { memory in
      let copy = OwnedValue(uninitialized: info)
      info.metadata.initialize(copy.memory, copying: memory)
      return copy
    }
  }
  let old = watch.observer.end(from: watch.segment, behind: yielded)
  yielded?.destroy()
  let open = Watch.OpenAccess(watch, object, old)
  // Given back when the access ends. The object lives at least as long as the access to it.
  let retained = Unmanaged.passRetained(open)
  hkt_window_push(open.window)
  let isNoted = hkt_on_access_end(
    call.pointee.frame,
    { context in
      let open = Unmanaged<Watch.OpenAccess>.fromOpaque(context!).takeRetainedValue()
      open.watch.close(open.window, open.object, open.old, isInPlace: true)
    }, retained.toOpaque())
  if !isNoted {
    hkt_window_pop(open.window)
    old?.destroy()
    retained.release()
  }
  return HKT_HANDLED
}
