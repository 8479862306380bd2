// CapturePath — `self.title`, `args.tax`, `result.id`: what a tracking rule reads, without running program code.
internal import CHookTrampoline
internal import HookRuntime
internal import Journal
internal import SwiftMangling

struct CapturePath: Sendable {
  enum Root: Sendable, Equatable { case selfObject, argument(Int), result, error, errno, duration }
  let root: Root
  let fields: [String]

  struct Problem: Error { let text: String }

  /// Reads a path; labels and positions are checked against the selector's parameters.
  init(_ text: String, for family: Family) throws(Problem) {
    var parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    let head = parts.removeFirst()
    if text.contains("(") { throw Problem(text: "'\(text)' runs program code, which capture paths cannot do yet; name stored fields") }
    switch head {
    case "self": root = .selfObject
    case "result": root = .result
    case "error": root = .error
    case "duration": root = .duration
    case "errno" where family.imported != nil: root = .errno
    case "args":
      guard !parts.isEmpty else { throw Problem(text: "'args' needs a label or a position: 'args.name' or 'args.1'") }
      let name = parts.removeFirst()
      let parameters = family.declaration.functionType.parameters
      if let position = Int(name), parameters.indices.contains(position - 1) {
        root = .argument(position - 1)
      } else if let index = parameters.firstIndex(where: { $0.label == name }) {
        root = .argument(index)
      } else {
        let known = parameters.enumerated().map { $1.label ?? "\($0 + 1)" }.joined(separator: ", ")
        throw Problem(text: "'\(family.selector)' has no argument '\(name)'; it has \(known.isEmpty ? "none" : known)")
      }
    default:
      throw Problem(
        text: "'\(text)' begins with neither self, args, result, error nor duration" + (family.imported == nil ? "" : ", nor errno"))
    }
    fields = parts
    if parts.contains("") { throw Problem(text: "'\(text)' has an empty step") }
    try checkFields(text, family)
  }

  /// Each step names a stored field of the type before it, as far as the declared types tell.
  private func checkFields(_ text: String, _ family: Family) throws(Problem) {
    guard !fields.isEmpty, var type = rootType(family) else { return }
    for field in fields {
      while case .success(let info) = TypeResolver.shared.type(of: type), case .optional(let payload) = info.kind {
        type = payload.metadata
      }
      guard type.descriptor != nil else { return }
      switch StoredField.find(field, in: type) {
      case .success(let found): type = found.info.metadata
      case .failure(let problem): throw Problem(text: "'\(text)': \(problem)")
      }
    }
  }

  /// The declared type of the path's root; nil where only a call tells.
  private func rootType(_ family: Family) -> Metadata? {
    let declaration = family.declaration
    let syntax: TypeSyntax
    switch root {
    case .selfObject:
      guard let context = declaration.context, declaration.contextKind == .classType else { return nil }
      syntax = .nominal(context, kind: .classType, arguments: [])
    case .argument(let index): syntax = declaration.functionType.parameters[index].type
    case .result: syntax = declaration.functionType.result
    case .error, .errno, .duration: return nil
    }
    guard case .success(let info) = TypeResolver.shared.type(syntax) else { return nil }
    return info.metadata
  }

  /// Where the value is when the path is no more than its root.
  var source: CaptureStep.Source {
    switch root {
    case .argument(let index) where fields.isEmpty: .argument(index)
    case .result where fields.isEmpty: .result
    default: .path
    }
  }

  var needsExit: Bool {
    switch root {
    case .result, .error, .errno, .duration: true
    case .selfObject, .argument: false
    }
  }

  /// Adds the value to `writer`.
  func capture(_ view: CallView, atExit: Bool, _ name: FieldName, _ printer: ValuePrinter, _ writer: inout FieldWriter) {
    if name.isMasked { writer.add(name, ""); return }
    switch root {
    case .duration: writer.add(name, Int64(clamping: view.durationNanoseconds))
    case .errno: writer.add(name, Int64(view.errno))
    case .error:
      let error = view.errorBox()
      if error == 0 { writer.addNull(name) } else { writer.add(name, ValuePrinter.error(error)) }
    case .selfObject:
      if atExit, view.selfEndsWithCall { return writer.addNull(name) }
      guard let object = view.selfObject else { return writer.add(name, "<not decoded>") }
      if fields.isEmpty { return writer.add(name, Self.typeName(Metadata(object.load(as: UnsafeRawPointer.self)))) }
      field(object, Metadata(object.load(as: UnsafeRawPointer.self)), fields[...], name, printer, &writer)
    case .argument(let index):
      let argument = view.plan.arguments[index]
      if atExit, argument.isOwned, !(argument.info?.isTrivial ?? false) { return writer.add(name, "<consumed>") }
      value(argument.location, argument.info, view, isResult: false, name, printer, &writer)
    case .result where view.didThrow: writer.addNull(name)
    case .result: value(view.plan.result.location, view.plan.result.info, view, isResult: true, name, printer, &writer)
    }
  }

  private func value(
    _ location: Location, _ info: TypeInfo?, _ view: CallView, isResult: Bool, _ name: FieldName, _ printer: ValuePrinter,
    _ writer: inout FieldWriter
  ) {
    guard let info else { return writer.add(name, location == .optimizedOut ? "<optimized out>" : "<not decoded>") }
    let done: Void? = view.reader.withMemory(location, info, isResult: isResult) { step($0, info, fields[...], name, printer, &writer) }
    if done == nil { writer.add(name, location == .optimizedOut ? "<optimized out>" : "<not decoded>") }
  }

  private func step(
    _ memory: UnsafeRawPointer, _ info: TypeInfo, _ rest: ArraySlice<String>, _ name: FieldName, _ printer: ValuePrinter,
    _ writer: inout FieldWriter
  ) {
    if rest.isEmpty { return add(memory, info, name, printer, &writer) }
    switch info.kind {
    case .object:
      guard let object = UnsafeRawPointer(bitPattern: memory.loadUnaligned(as: UInt.self)) else { return writer.addNull(name) }
      field(object, Metadata(object.load(as: UnsafeRawPointer.self)), rest, name, printer, &writer)
    case .optional(let payload):
      if info.metadata.enumTag(memory) != 0 { return writer.addNull(name) }
      step(memory, payload, rest, name, printer, &writer)
    default: field(memory, info.metadata, rest, name, printer, &writer)
    }
  }

  private func field(
    _ base: UnsafeRawPointer, _ type: Metadata, _ path: ArraySlice<String>, _ name: FieldName, _ printer: ValuePrinter,
    _ writer: inout FieldWriter
  ) {
    switch StoredField.find(path[path.startIndex], in: type) {
    case .failure(let problem): writer.add(name, "<\(problem.description)>")
    case .success(let found): step(base + found.offset, found.info, path.dropFirst(), name, printer, &writer)
    }
  }

  private func add(_ memory: UnsafeRawPointer, _ info: TypeInfo, _ name: FieldName, _ printer: ValuePrinter, _ writer: inout FieldWriter) {
    switch info.kind {
    case .bool: writer.add(name, memory.load(as: UInt8.self) & 1 == 1)
    case .integer(64, true): writer.add(name, memory.loadUnaligned(as: Int64.self))
    case .integer(64, false): writer.add(name, memory.loadUnaligned(as: UInt64.self))
    case .integer(32, true): writer.add(name, Int64(memory.loadUnaligned(as: Int32.self)))
    case .float(64): writer.add(name, memory.loadUnaligned(as: Double.self))
    case .float: writer.add(name, Double(memory.loadUnaligned(as: Float.self)))
    case .string:
      StringBits.withUTF8(memory.loadUnaligned(as: UInt64.self), memory.loadUnaligned(fromByteOffset: 8, as: UInt64.self)) {
        writer.add(name, utf8: $0)
      }
    case .cString:
      let isText: Void? = CText.withBytes(memory.loadUnaligned(as: UInt.self)) { writer.add(name, utf8: $0) }
      if isText == nil { writer.addNull(name) }
    case .optional(let payload):
      if info.metadata.enumTag(memory) != 0 { writer.addNull(name) } else { add(memory, payload, name, printer, &writer) }
    default:
      var text = ""
      printer.print(memory, info, into: &text)
      writer.add(name, text)
    }
  }

  private static func typeName(_ type: Metadata) -> String { (try? TypeResolver.shared.type(of: type).get().name) ?? "?" }
}

/// One field of a rule, reduced to what most of them are: a scalar or a string in a register. Owns nothing.
struct CaptureStep {
  enum Source { case argument(Int), result, path }
  /// Freed by the rule.
  let name: FieldName.Lent
  let source: Source

  /// Adds the value; false, with nothing added, when it has to be read by its path.
  @inline(__always)
  func capture(_ view: CallView, atExit: Bool, _ writer: inout FieldWriter) -> Bool {
    let slot: ValueSlot
    switch source {
    case .path: return false
    case .argument(let index):
      if atExit, view.withPlan({ $0.consumesArguments }) { return false }
      slot = view.withPlan { $0.slots[index] }
    case .result:
      if view.didThrow { return false }
      slot = view.withPlan { $0.resultSlot }
    }
    let address = slot.address(in: view.call)
    switch slot.kind {
    case .int64: writer.add(name, address.load(as: Int64.self))
    case .double: writer.add(name, address.load(as: Double.self))
    case .bool: writer.add(name, address.load(as: UInt8.self) & 1 == 1)
    case .uint64: writer.add(name, address.load(as: UInt64.self))
    case .int32: writer.add(name, Int64(address.load(as: Int32.self)))
    case .float: writer.add(name, Double(address.load(as: Float.self)))
    case .string:
      guard let text = StringBits.inRegisters(address) else { return false }
      writer.add(name, utf8: text)
    default: return false
    }
    return true
  }
}
