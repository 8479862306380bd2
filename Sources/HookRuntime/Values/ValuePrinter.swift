// ValuePrinter — shows a value by looking at its memory. Runs no program code: no description, no getter.
private import Glibc

/// How much of a value is shown.
package struct PrintLimits: Sendable {
  /// Bytes of a string; the rest is counted.
  package var string = 64
  /// Structs and payloads nested deeper are shown as `Type(…)`.
  package var depth = 2
  package var fields = 6
  /// Elements of a collection that are shown in front of its count; with 0 it is its type and its count.
  package var elements = 0
  /// Payloads of all cases, and errors with what is in them, not by the names of their cases alone.
  package var showsPayloads = false
  /// Bytes of a whole value, about: nothing more is begun behind them.
  package var width = Int.max
  package init() {}

  /// As much as fits into `width`.
  package static func inFull(width: Int) -> PrintLimits {
    var limits = PrintLimits()
    (limits.depth, limits.fields, limits.elements, limits.showsPayloads, limits.width) = (6, 24, 64, true, width)
    return limits
  }
}

/// What is left of the limits inside a value.
struct PrintRoom {
  var depth: Int
  /// A text that is so long has no room for more.
  let end: Int

  var inside: PrintRoom { PrintRoom(depth: depth - 1, end: end) }
  func isFull(_ text: String) -> Bool { text.utf8.count >= end }
}

package struct ValuePrinter {
  package var limits: PrintLimits
  /// Answers true for a field name whose value must not be shown.
  package var isSecret: @Sendable (String) -> Bool
  private let types: TypeResolver

  package init(
    limits: PrintLimits = .init(), types: TypeResolver = .shared, isSecret: @escaping @Sendable (String) -> Bool = { _ in false }
  ) {
    self.limits = limits
    self.types = types
    self.isSecret = isSecret
  }

  /// Appends the value at `memory`, within the limits.
  package func print(_ memory: UnsafeRawPointer, _ info: TypeInfo, into text: inout String) {
    let (end, overflow) = text.utf8.count.addingReportingOverflow(limits.width)
    print(memory, info, PrintRoom(depth: limits.depth, end: overflow ? .max : end), &text)
  }

  /// Appends the value at `memory` to the text, as long as there is room.
  func print(_ memory: UnsafeRawPointer, _ info: TypeInfo, _ room: PrintRoom, _ text: inout String) {
    switch info.kind {
    case .void: text += "()"
    case .bool: text += memory.load(as: UInt8.self) & 1 == 1 ? "true" : "false"
    case .integer(let bits, let signed): text += Self.integer(memory, bits, signed)
    case .float(32): text += Self.plain("\(memory.loadUnaligned(as: Float.self))")
    case .float: text += Self.plain("\(memory.loadUnaligned(as: Double.self))")
    case .string:
      StringBits.withUTF8(memory.loadUnaligned(as: UInt64.self), memory.loadUnaligned(fromByteOffset: 8, as: UInt64.self)) {
        quote($0, &text, atMost: room.end - text.utf8.count)
      }
    case .cString: cString(memory.loadUnaligned(as: UInt.self), &text)
    case .optional(let payload): optional(memory, info, payload, room, &text)
    case .object: object(memory.load(as: UInt.self), info, &text)
    case .closure: text += "{…}"
    // Where it needs no bits the type alone says what it is of.
    case .metatype: text += Self.short(info.size == 0 ? info.metadata.instanceType.name : info.name)
    case .structure: structure(memory, info, room, &text)
    case .enumeration: enumeration(memory, info, room, &text)
    case .tuple: tuple(memory, info, room, &text)
    case .existential: existential(memory, info, room, &text)
    case .opaque: text += "<\(Self.short(info.name))>"
    }
  }

  private static func plain(_ number: String) -> String { number.hasSuffix(".0") ? String(number.dropLast(2)) + ".0" : number }

  /// The integer of that many bits at `memory`, in decimals.
  private static func integer(_ memory: UnsafeRawPointer, _ bits: Int, _ signed: Bool) -> String {
    switch (bits, signed) {
    case (8, true): "\(memory.load(as: Int8.self))"
    case (16, true): "\(memory.loadUnaligned(as: Int16.self))"
    case (32, true): "\(memory.loadUnaligned(as: Int32.self))"
    case (8, false): "\(memory.load(as: UInt8.self))"
    case (16, false): "\(memory.loadUnaligned(as: UInt16.self))"
    case (32, false): "\(memory.loadUnaligned(as: UInt32.self))"
    case (_, false): "\(memory.loadUnaligned(as: UInt64.self))"
    default: "\(memory.loadUnaligned(as: Int64.self))"
    }
  }

  /// `"text"` with escapes; cut at the limit, with the whole length told.
  package func quote(_ bytes: UnsafeRawBufferPointer, _ text: inout String, atMost room: Int = .max) {
    var shown = min(bytes.count, limits.string)
    // Short ones are shown whole: to say that they were cut takes as many bytes.
    if shown > room, bytes.count > 16 { shown = min(shown, max(room, 8)) }
    while shown > 0, shown < bytes.count, bytes[shown] & 0xC0 == 0x80 { shown -= 1 }
    text += "\""
    for scalar in String(decoding: bytes[..<shown], as: UTF8.self).unicodeScalars {
      switch scalar {
      case "\n": text += "\\n"
      case "\t": text += "\\t"
      case "\r": text += "\\r"
      case "\"": text += "\\\""
      case "\\": text += "\\\\"
      case _ where scalar.value < 32 || scalar.value == 127: text += "\\u{\(String(scalar.value, radix: 16))}"
      default: text.unicodeScalars.append(scalar)
      }
    }
    text += shown < bytes.count ? "…\" (\(bytes.count) B)" : "\""
  }

  private func cString(_ address: UInt, _ text: inout String) {
    if address == 0 { text += "nil"; return }
    // The callee may be the kernel, which bears with addresses that lead nowhere.
    let shown = CText.withBytes(address) { bytes in
      var quoted = ""
      quote(bytes, &quoted)
      return quoted
    }
    text += shown ?? "<unreadable 0x\(String(address, radix: 16))>"
  }

  /// Appends what an Optional holds, or nil.
  private func optional(_ memory: UnsafeRawPointer, _ info: TypeInfo, _ payload: TypeInfo, _ room: PrintRoom, _ text: inout String) {
    // Tag 0 is the payload case, the empty case follows.
    guard let tag = info.metadata.enumTag(memory) else { text += "<\(Self.short(info.name))>"; return }
    if tag != 0 { text += "nil"; return }
    // The payload of an Optional lies at its start, unchanged (extra inhabitants or a tag behind it spell nil).
    print(memory, payload, room, &text)
  }

  private func object(_ address: UInt, _ info: TypeInfo, _ text: inout String) {
    guard let object = UnsafeRawPointer(bitPattern: address) else { text += "nil"; return }
    // A native object's first word is its class.
    let type = Metadata(object.load(as: UnsafeRawPointer.self))
    let name = types.type(of: type)
    text += "<\(Self.short((try? name.get().name) ?? info.name))>"
  }

  /// Numbers of the standard library that are structs of one builtin word.
  private static func number(_ memory: UnsafeRawPointer, _ type: Metadata) -> String? {
    // The memory holds a value of the type its metadata names.
    switch type {
    case float80: memory.assumingMemoryBound(to: Float80.self).pointee.description
    case float16: memory.assumingMemoryBound(to: Float16.self).pointee.description
    case int128: memory.loadUnaligned(as: Int128.self).description
    case uint128: memory.loadUnaligned(as: UInt128.self).description
    default: nil
    }
  }
  private static let (float80, float16) = (Metadata(Float80.self), Metadata(Float16.self))
  private static let (int128, uint128) = (Metadata(Int128.self), Metadata(UInt128.self))

  /// Appends a struct: as a number, a collection or a type of Foundation, otherwise by its fields.
  private func structure(_ memory: UnsafeRawPointer, _ info: TypeInfo, _ room: PrintRoom, _ text: inout String) {
    if info.isPointer { text += "0x\(String(memory.loadUnaligned(as: UInt.self), radix: 16))"; return }
    if let number = Self.number(memory, info.metadata) { text += number; return }
    if collection(memory, info, room, &text) || standard(memory, info, room, &text) || foundation(memory, info, into: &text) { return }
    guard let descriptor = info.metadata.descriptor, let vector = descriptor.fieldOffsetVector, info.metadata.hasSoundFields else {
      text += "<\(Self.short(info.name))>"
      return
    }
    let fields = descriptor.fields
    text += Self.short(info.name)
    if room.depth <= 0 && !fields.isEmpty { text += "(…)"; return }
    text += "("
    for (index, field) in fields.enumerated() {
      if index > 0 { text += ", " }
      if index == limits.fields || room.isFull(text) { text += "…"; break }
      let name = field.name
      text += name.hasPrefix("$") ? "" : "\(name): "
      if isSecret(name) { text += "<masked>"; continue }
      let offset = Int((info.metadata.pointer + 8 * vector).load(fromByteOffset: 4 * index, as: UInt32.self))
      let isWithheld = field.typeName?.isWithheld(in: info.metadata) ?? false
      print(memory + offset, fieldType: isWithheld ? nil : field.typeName, in: info.metadata, room.inside, &text)
    }
    text += ")"
  }

  /// Appends a field of that type; `…` where the type is not known.
  private func print(_ memory: UnsafeRawPointer, fieldType name: MangledBytes?, in owner: Metadata, _ room: PrintRoom, _ text: inout String) {
    guard let name, name.builtin == nil, !name.hasSuffix("Xw"), !name.hasSuffix("Xo"), !name.hasSuffix("Xu"),
      let metadata = name.resolve(in: owner), let info = try? types.type(of: metadata).get()
    else { text += "…"; return }
    print(memory, info, room, &text)
  }

  /// The generic arguments are the name's last part: `Swift.Set<A>.Index` is no set.
  static func endsWithArguments(_ name: String) -> Bool {
    var depth = 0
    var closed = false
    var last: UInt8 = 0
    for character in name.utf8 {
      if closed { return false }
      if character == UInt8(ascii: "<") { depth += 1 }
      // The arrow of a function type closes nothing.
      if character == UInt8(ascii: ">"), last != UInt8(ascii: "-") {
        depth -= 1
        closed = depth == 0
      }
      last = character
    }
    return closed
  }

  /// Appends the case, with its payload.
  private func enumeration(_ memory: UnsafeRawPointer, _ info: TypeInfo, _ room: PrintRoom, _ text: inout String) {
    guard let descriptor = info.metadata.descriptor, let tag = info.metadata.enumTag(memory) else {
      text += "<\(Self.short(info.name))>"
      return
    }
    let cases = descriptor.fields
    guard cases.indices.contains(tag) else { text += "<\(Self.short(info.name))>"; return }
    text += "." + cases[tag].name
    guard tag < descriptor.payloadCases else { return }
    // Only a lone payload lies unchanged at the start; others share bits with the case number.
    if !limits.showsPayloads, descriptor.payloadCases != 1 || cases[tag].isIndirectCase { text += "(…)"; return }
    let isShown: Void? = room.depth <= 0 ? nil : info.withPayload(of: memory) { payload(at: $0, $1, room.inside, &text) }
    if isShown == nil { text += "(…)" }
  }

  /// `(7)`, or the elements of several values.
  private func payload(at memory: UnsafeRawPointer, _ info: TypeInfo, _ room: PrintRoom, _ text: inout String) {
    if case .tuple = info.kind { return tuple(memory, info, room, &text) }
    text += "("
    print(memory, info, room, &text)
    text += ")"
  }

  /// Appends the elements with their labels.
  private func tuple(_ memory: UnsafeRawPointer, _ info: TypeInfo, _ room: PrintRoom, _ text: inout String) {
    text += "("
    let labels = info.metadata.tupleLabels
    for (index, element) in info.metadata.tupleElements.enumerated() {
      if index > 0 { text += ", " }
      if room.isFull(text) { text += "…"; break }
      if limits.showsPayloads, let label = labels[index] {
        text += "\(label): "
        if isSecret(label) { text += "<masked>"; continue }
      }
      guard let type = try? types.type(of: element.metadata).get() else { text += "…"; continue }
      print(memory + element.offset, type, room, &text)
    }
    text += ")"
  }

  /// Appends what a value of protocol type holds.
  private func existential(_ memory: UnsafeRawPointer, _ info: TypeInfo, _ room: PrintRoom, _ text: inout String) {
    if info.metadata.existentialForm == .error {
      if !limits.showsPayloads { text += Self.error(memory.load(as: UInt.self)); return }
      if let (value, type) = info.openExistential(memory) { return error(value, type, room, &text) }
    }
    guard let (value, type) = info.openExistential(memory) else { text += "<\(Self.short(info.name))>"; return }
    print(value, type, room, &text)
  }

  /// `ShopError.outOfStock("tea", left: 3)`: a value of an error's type, which enums do not name themselves.
  package func error(_ memory: UnsafeRawPointer, _ info: TypeInfo, into text: inout String) {
    error(memory, info, PrintRoom(depth: limits.depth, end: limits.width == .max ? .max : text.utf8.count + limits.width), &text)
  }

  /// Appends an error: a case with the name of its type.
  private func error(_ memory: UnsafeRawPointer, _ info: TypeInfo, _ room: PrintRoom, _ text: inout String) {
    if case .enumeration = info.kind { text += Self.short(info.name) }
    print(memory, info, room, &text)
  }

  /// A thrown error by its box, as fully as the limits say.
  package func thrown(_ box: UInt, into text: inout String) {
    guard limits.showsPayloads, box != 0, case .success(let info) = types.type(of: Metadata((any Error).self)) else {
      text += Self.error(box)
      return
    }
    // An `any Error` is one word, the box.
    withUnsafeBytes(of: box) { print($0.baseAddress!, info, into: &text) }
  }

  /// A thrown error, by its type and, for an enum, its case.
  package static func error(_ box: UInt) -> String {
    guard box != 0 else { return "nil" }
    // A boxed `any Error` is one reference; the copy made by the cast is retained and released.
    let error = unsafeBitCast(box, to: (any Error).self)
    return errorText(error)
  }
  private static func errorText<E: Error>(_ error: E) -> String {
    let metadata = Metadata(E.self)
    let name = short(metadata.name)
    guard case .enumeration = metadata.kind, let descriptor = metadata.descriptor else { return name }
    let fields = descriptor.fields
    return withUnsafeBytes(of: error) { bytes in
      guard let base = bytes.baseAddress, let tag = metadata.enumTag(base), fields.indices.contains(tag) else { return name }
      return "\(name).\(fields[tag].name)" + (tag < descriptor.payloadCases ? "(…)" : "")
    }
  }

  /// `Shop.Cart.Line` as `Line`; generic arguments are shortened too.
  package static func short(_ name: String) -> String {
    var result = ""
    var component = ""
    for character in name {
      if character == "." {
        component = ""
      } else if character.isLetter || character.isNumber || character == "_" || character == "#" {
        component.append(character)
      } else {
        result += component
        component = ""
        result.append(character)
      }
    }
    return result + component
  }
}
