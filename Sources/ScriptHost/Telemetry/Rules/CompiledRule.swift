// CompiledRule — a rule made ready for one function: paths, condition and limits, to be asked on every call without a lock.
private import CCrash
internal import CHookTrampoline
internal import HookRuntime
internal import Journal
internal import Synchronization

/// One named value of a record. Owns nothing: its rule does.
struct CapturedField {
  let name: FieldName.Borrowed
  let slot: CaptureSlot
  let path: Unmanaged<CapturePath>
  let isHashed: Bool
  /// Known when the call is over.
  let isLate: Bool
  let map: Unmanaged<ValueMap>?
  let part: RecordedPart?
  /// What is recorded is the value at its place, as it is: asked by every call, in place of the three before.
  let isDirect: Bool

  init(
    name: FieldName.Borrowed, slot: CaptureSlot, path: Unmanaged<CapturePath>, isHashed: Bool, isLate: Bool, map: Unmanaged<ValueMap>?,
    part: RecordedPart?
  ) {
    self.name = name
    self.slot = slot
    self.path = path
    self.isHashed = isHashed
    self.isLate = isLate
    self.map = map
    self.part = part
    isDirect = !isHashed && map == nil && part == nil
  }

  func free() {
    name.free()
    path.release()
    map?.release()
  }

  /// Adds the value to the record.
  @inline(__always)
  func add(_ view: CallView, atExit: Bool, _ printer: ValuePrinter, _ writer: inout FieldWriter) {
    if isDirect, slot.capture(name, view, atExit: atExit, &writer) { return }
    addByPath(view, atExit, printer, &writer)
  }

  @inline(never)
  fileprivate func addByPath(_ view: CallView, _ atExit: Bool, _ printer: ValuePrinter, _ writer: inout FieldWriter) {
    // Nothing is read of what is masked.
    if name.isMasked { return writer.add(name, false) }
    withUnsafeMutablePointer(to: &writer) { writer in
      path._withUnsafeGuaranteedRef {
        $0.read(view, atExit: atExit) { value in
          if let part { return part.add(value, name, printer, isHashed: isHashed, &writer.pointee) }
          if isHashed { return addHash(value, printer, &writer.pointee) }
          if let number = map?._withUnsafeGuaranteedRef({ $0.number(of: value, printer) }) { return writer.pointee.add(name, number) }
          value.add(name, printer, &writer.pointee)
        }
      }
    }
  }

  private func addHash(_ value: CapturedValue, _ printer: ValuePrinter, _ writer: inout FieldWriter) {
    switch value {
    case .null, .missing: return value.add(name, printer, &writer)
    case .text(let bytes): SecretHash.digits(bytes) { writer.add(name, utf8: $0) }
    default:
      var text = value.shown(printer)
      text.withUTF8 { bytes in SecretHash.digits(UnsafeRawBufferPointer(bytes)) { writer.add(name, utf8: $0) } }
    }
  }
}

/// Numbers that are recorded instead of values.
final class ValueMap: Sendable {
  private let numbers: [String: Int64]

  init(_ numbers: [String: Int64]) { self.numbers = numbers }

  /// The value's number, by its text; an enum's cases are named without their dot.
  func number(of value: CapturedValue, _ printer: ValuePrinter) -> Int64? {
    let text = value.shown(printer)
    return numbers[text] ?? (text.hasPrefix(".") ? numbers[String(text.dropFirst().prefix { $0 != "(" })] : nil)
  }
}

/// Immutable but for what counts. Calls in flight may be in it: it is released with its layer.
final class CompiledRule: @unchecked Sendable {
  let gate: RuleGate
  let fields: UnsafeMutableBufferPointer<CapturedField>
  /// Fields that are there for what runs below the call.
  let context: UnsafeMutableBufferPointer<CapturedField>
  let needsExit: Bool
  let needsTime: Bool
  let selector: String
  /// What the rule's patch may touch; nil: everything.
  let rights: PatchRights?
  let printer: ValuePrinter
  /// Who it is in the crash file; 0: nobody.
  private let crashOwner: UInt32
  private let condition: Condition?
  private let oncePath: CapturePath?
  private let oncePer: RuleDefinition.OncePer?
  private let same: ExchangeKey?
  /// Where other types' calls may come: handlers pass them by, too.
  private let receiver: ReceiverCheck?

  /// Checks the rule against the function; the sentence names what is wrong.
  /// - Parameters:
  ///   - rights: what the rule's patch may touch; nil: everything.
  ///   - showsSecrets: secrets are recorded as they are.
  ///   - crashOwner: whose breadcrumbs its calls leave; 0: they leave none.
  init(
    _ definition: RuleDefinition, _ gate: RuleGate, for family: Family, rights: PatchRights? = nil, showsSecrets: Bool = false,
    crashOwner: UInt32 = 0
  ) throws(RuleProblem) {
    self.gate = gate
    self.crashOwner = crashOwner
    self.rights = rights
    selector = family.selector
    oncePer = definition.oncePer
    let given = try Self.paths(definition.fields, family, rights)
    let inherited = try Self.paths(definition.context, family, rights)
    if let late = zip(definition.context, inherited).first(where: { $1.needsExit }) {
      throw RuleProblem("context '\(late.0.name)': '\(late.0.path)' is known when the call is over; what runs below it needs it before")
    }
    condition = try definition.condition.map { text throws(RuleProblem) in try Condition(text, for: family, rights: rights) }
    if case .path(let path)? = definition.oncePer { oncePath = try CapturePath(path, for: family, rights: rights) } else { oncePath = nil }
    same = definition.same.isEmpty ? nil : try ExchangeKey(definition.same, "same", for: family, rights: rights)
    let paths = given + inherited + (oncePath.map { [$0] } ?? [])
    needsExit = definition.atExit || paths.contains(where: \.needsExit) || condition?.needsExit == true
    needsTime = paths.contains { $0.root == .duration } || condition?.needsTime == true
    // What changes with every call comes last: equal records are recognised by what comes before.
    let order = given.indices.sorted { (given[$0].root == .duration ? 1 : 0, $0) < (given[$1].root == .duration ? 1 : 0, $1) }
    let all = definition.dedupe == nil ? Array(given.indices) : order
    fields = Self.keep(all.map { (definition.fields[$0], given[$0]) }, showsSecrets)
    context = Self.keep(zip(definition.context, inherited).map { ($0, $1) }, showsSecrets)
    printer = ValuePrinter(isSecret: { !showsSecrets && Masking.isSecret($0) })
    receiver = ReceiverCheck(whereSharedBy: family)
  }

  deinit {
    for field in [fields, context].joined() { field.free() }
    fields.deallocate()
    context.deallocate()
  }

  private static func paths(_ fields: [RuleDefinition.Field], _ family: Family, _ rights: PatchRights?) throws(RuleProblem) -> [CapturePath] {
    var paths: [CapturePath] = []
    for field in fields {
      do throws(RuleProblem) { paths.append(try CapturePath(field.path, for: family, rights: rights)) } catch {
        throw RuleProblem("field '\(field.name)': \(error.text)")
      }
    }
    return paths
  }

  /// The fields in memory of their own, without those that are dropped; the rule frees it.
  private static func keep(_ fields: [(RuleDefinition.Field, CapturePath)], _ showsSecrets: Bool) -> UnsafeMutableBufferPointer<CapturedField> {
    let kept = fields.filter { $0.0.privacy != .drop }
    let memory = UnsafeMutableBufferPointer<CapturedField>.allocate(capacity: kept.count)
    for (index, (field, path)) in kept.enumerated() {
      // A hash says nothing, whatever the name says.
      let name =
        switch field.privacy {
        case .mask: FieldName(field.name, masked: true)
        case .hash: FieldName(field.name, masked: false)
        // A secret stays one under another name.
        default: FieldName(field.name, masked: !showsSecrets && (Masking.isSecret(field.name) || Masking.isSecret(field.path)))
        }
      memory.initializeElement(
        at: index,
        to: CapturedField(
          name: name.copied(), slot: CaptureSlot(path), path: .passRetained(path), isHashed: field.privacy == .hash,
          isLate: path.needsExit, map: field.map.isEmpty ? nil : .passRetained(ValueMap(field.map)),
          part: field.part.map { RecordedPart(part: $0, showsSecrets: showsSecrets) }))
    }
    return memory
  }

  // MARK: Asking

  /// The call is of another type that shares the code.
  @inline(__always)
  func passesBy(_ view: CallView) -> Bool { receiver?.passesBy(view) ?? false }

  /// The call is one that the rule means, by condition, `once_per` and sample; it is a breadcrumb then.
  @inline(__always)
  func admits(_ view: CallView, atExit: Bool, samples: Bool = true) -> Bool {
    if let condition, !condition.holds(view, atExit: atExit) {
      gate.byCondition.add(1, ordering: .relaxed)
      return false
    }
    if gate.hasOncePer, !gate.isFirst(occasion(view, atExit)) { return false }
    guard !samples || gate.samples() else { return false }
    ccrash_note_call(crashOwner)
    return true
  }

  /// The condition names what is known when the call is over.
  var asksAtExit: Bool { condition?.needsExit == true }
  var hasEarlyFields: Bool { fields.contains { !$0.isLate } }

  /// Fields that are known now, as records have them.
  func bytes(
    of fields: UnsafeMutableBufferPointer<CapturedField>, _ view: CallView, _ thread: UnsafeMutablePointer<ScriptThread>, isLate: Bool = false
  ) -> [UInt8] {
    var writer = FieldWriter(FieldWriter.noName, into: thread.pointee.recordBuffer)
    let start = writer.count
    for field in fields where field.isLate == isLate { field.add(view, atExit: isLate, printer, &writer) }
    return Array(writer.encoded(from: start))
  }

  /// What `once_per` counts by, as a number.
  private func occasion(_ view: CallView, _ atExit: Bool) -> UInt64 {
    switch oncePer {
    // By the kernel's number: the record of a thread that ended is another one's.
    case .thread: return mixed(UInt64(UInt32(bitPattern: view.call.pointee.thread.pointee.tid)))
    case .path:
      var key: UInt64 = 0
      oncePath?.read(view, atExit: atExit) { key = $0.identity(printer) }
      return key
    default: return 1
    }
  }

  /// Adds the fields; answers whether the record is to be written. What `same` and `rate` leave out is not read.
  /// - Parameter first: adds what the verb itself has of the call; `dedupe` goes by it, too.
  @inline(__always)
  func fill(_ view: CallView, atExit: Bool, _ writer: inout FieldWriter, first: (inout FieldWriter) -> Void = { _ in }) -> Bool {
    let key = gate.hasDedupe ? same?.value(view, printer)?.whole : nil
    // Of calls without a key, equal records are repeats: they are made first.
    let comparesRecords = gate.hasDedupe && key == nil
    if !comparesRecords, !passes(key) { return false }
    first(&writer)
    var steady = -1
    for index in 0..<fields.count {
      if comparesRecords, steady < 0, fields[index].path._withUnsafeGuaranteedRef({ $0.root == .duration }) { steady = writer.count }
      // Where it lies: a field is eight words, which each call would copy.
      let field = fields.baseAddress.unsafelyUnwrapped + index
      if field.pointee.isDirect, field.pointee.slot.capture(field.pointee.name, view, atExit: atExit, &writer) { continue }
      add(field, view, atExit, &writer)
    }
    return !comparesRecords || passes(hash(UnsafeRawBufferPointer(start: writer.base, count: steady < 0 ? writer.count : steady)))
  }

  @inline(never)
  private func add(_ field: UnsafeMutablePointer<CapturedField>, _ view: CallView, _ atExit: Bool, _ writer: inout FieldWriter) {
    field.pointee.addByPath(view, atExit, printer, &writer)
  }

  /// The call is no repeat, and there is room for it in the rate.
  /// - Parameter key: what its repeats have in common; nil: it has none.
  @inline(__always)
  private func passes(_ key: UInt64?) -> Bool {
    if let key, !gate.isNew(key) { return false }
    return gate.hasRoom()
  }
}

extension CapturedValue {
  /// A number that equal values share.
  func identity(_ printer: ValuePrinter) -> UInt64 {
    switch self {
    case .null, .missing: return 1
    case .bool(let value): return mixed(value ? 3 : 2)
    case .integer(let value): return mixed(UInt64(bitPattern: value))
    case .unsigned(let value): return mixed(value)
    case .double(let value): return mixed(value.bitPattern)
    case .text(let bytes): return hash(bytes, from: 1)
    case .other(let memory, let type):
      // An object is itself, whatever it holds.
      if case .object = type._withUnsafeGuaranteedRef({ $0.kind }) { return mixed(memory.loadUnaligned(as: UInt64.self)) }
      var text = shown(printer)
      return text.withUTF8 { hash(UnsafeRawBufferPointer($0), from: 2) }
    }
  }
}
