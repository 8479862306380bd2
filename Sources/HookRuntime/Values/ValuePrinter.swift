// ValuePrinter — shows a value by looking at its memory. Runs no program code: no description, no getter.
private import Glibc

/// How much of a value is shown.
package struct PrintLimits: Sendable {
  /// Bytes of a string; the rest is counted.
  package var string = 64
  /// Structs and payloads nested deeper are shown as `Type(…)`.
  package var depth = 2
  package var fields = 6
  package init() {}
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

  package func print(_ memory: UnsafeRawPointer, _ info: TypeInfo, into text: inout String) {
    print(memory, info, depth: limits.depth, &text)
  }

  private func print(_ memory: UnsafeRawPointer, _ info: TypeInfo, depth: Int, _ text: inout String) {
    switch info.kind {
    case .void: text += "()"
    case .bool: text += memory.load(as: UInt8.self) & 1 == 1 ? "true" : "false"
    case .integer(let bits, let signed): text += Self.integer(memory, bits, signed)
    case .float(32): text += Self.plain("\(memory.loadUnaligned(as: Float.self))")
    case .float: text += Self.plain("\(memory.loadUnaligned(as: Double.self))")
    case .string:
      StringBits.withUTF8(memory.loadUnaligned(as: UInt64.self), memory.loadUnaligned(fromByteOffset: 8, as: UInt64.self)) {
        quote($0, &text)
      }
    case .cString: cString(memory.loadUnaligned(as: UInt.self), &text)
    case .optional(let payload): optional(memory, info, payload, depth, &text)
    case .object: object(memory.load(as: UInt.self), info, &text)
    case .closure: text += "{…}"
    // Where it needs no bits the type alone says what it is of.
    case .metatype: text += Self.short(info.size == 0 ? info.metadata.instanceType.name : info.name)
    case .structure: structure(memory, info, depth, &text)
    case .enumeration: enumeration(memory, info, depth, &text)
    case .tuple: tuple(memory, info, depth, &text)
    case .existential: existential(memory, info, depth, &text)
    case .opaque: text += "<\(Self.short(info.name))>"
    }
  }

  private static func plain(_ number: String) -> String { number.hasSuffix(".0") ? String(number.dropLast(2)) + ".0" : number }

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
  package func quote(_ bytes: UnsafeRawBufferPointer, _ text: inout String) {
    var shown = min(bytes.count, limits.string)
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

  private func optional(_ memory: UnsafeRawPointer, _ info: TypeInfo, _ payload: TypeInfo, _ depth: Int, _ text: inout String) {
    // Tag 0 is the payload case, the empty case follows.
    guard let tag = info.metadata.enumTag(memory) else { text += "<\(Self.short(info.name))>"; return }
    if tag != 0 { text += "nil"; return }
    // The payload of an Optional lies at its start, unchanged (extra inhabitants or a tag behind it spell nil).
    print(memory, payload, depth: depth, &text)
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

  private func structure(_ memory: UnsafeRawPointer, _ info: TypeInfo, _ depth: Int, _ text: inout String) {
    if info.isPointer { text += "0x\(String(memory.loadUnaligned(as: UInt.self), radix: 16))"; return }
    if let number = Self.number(memory, info.metadata) { text += number; return }
    if collection(memory, info, &text) || foundation(memory, info, into: &text) { return }
    guard let descriptor = info.metadata.descriptor, let vector = descriptor.fieldOffsetVector else {
      text += "<\(Self.short(info.name))>"
      return
    }
    let fields = descriptor.fields
    text += Self.short(info.name)
    if depth == 0 && !fields.isEmpty { text += "(…)"; return }
    text += "("
    for (index, field) in fields.enumerated() {
      if index > 0 { text += ", " }
      if index == limits.fields { text += "…"; break }
      let name = field.name
      text += name.hasPrefix("$") ? "" : "\(name): "
      if isSecret(name) { text += "<masked>"; continue }
      let offset = Int((info.metadata.pointer + 8 * vector).load(fromByteOffset: 4 * index, as: UInt32.self))
      print(memory + offset, fieldType: field.typeName, in: info.metadata, depth - 1, &text)
    }
    text += ")"
  }

  private func print(_ memory: UnsafeRawPointer, fieldType name: MangledBytes?, in owner: Metadata, _ depth: Int, _ text: inout String) {
    guard let name, name.builtin == nil, !name.hasSuffix("Xw"), !name.hasSuffix("Xo"), !name.hasSuffix("Xu"),
      let metadata = name.resolve(in: owner), let info = try? types.type(of: metadata).get()
    else { text += "…"; return }
    print(memory, info, depth: depth, &text)
  }

  /// Arrays, sets and dictionaries by their count; true when it was one.
  private func collection(_ memory: UnsafeRawPointer, _ info: TypeInfo, _ text: inout String) -> Bool {
    let name = info.name
    guard name.hasPrefix("Swift.") else { return false }
    // Native storage classes of these keep the element count behind the object header, at +16.
    guard
      name.hasPrefix("Swift.Array<") || name.hasPrefix("Swift.ContiguousArray<") || name.hasPrefix("Swift.Dictionary<")
        || name.hasPrefix("Swift.Set<"), Self.endsWithArguments(name),
      let storage = UnsafeRawPointer(bitPattern: memory.load(as: UInt.self))
    else { return false }
    let count = storage.load(fromByteOffset: 16, as: Int.self)
    text += "\(Self.short(name))(\(count))"
    return true
  }

  /// The generic arguments are the name's last part: `Swift.Set<A>.Index` is no set.
  private static func endsWithArguments(_ name: String) -> Bool {
    var depth = 0
    var closed = false
    var last: UInt8 = 0
    for character in name.utf8 {
      if closed { return false }
      if character == UInt8(ascii: "<") { depth += 1 }
      // Not the arrow of a function type.
      if character == UInt8(ascii: ">"), last != UInt8(ascii: "-") {
        depth -= 1
        closed = depth == 0
      }
      last = character
    }
    return closed
  }

  private func enumeration(_ memory: UnsafeRawPointer, _ info: TypeInfo, _ depth: Int, _ text: inout String) {
    guard let descriptor = info.metadata.descriptor, let tag = info.metadata.enumTag(memory) else {
      text += "<\(Self.short(info.name))>"
      return
    }
    let cases = descriptor.fields
    guard cases.indices.contains(tag) else { text += "<\(Self.short(info.name))>"; return }
    text += "." + cases[tag].name
    guard tag < descriptor.payloadCases else { return }
    // Only a lone payload lies unchanged at the start; others share bits with the case number.
    if descriptor.payloadCases == 1, !cases[tag].isIndirectCase, depth > 0, let type = cases[tag].typeName?.resolve(in: info.metadata),
      let payload = try? types.type(of: type).get()
    {
      if case .tuple = payload.kind {
        tuple(memory, payload, depth - 1, &text)
      } else {
        text += "("
        print(memory, payload, depth: depth - 1, &text)
        text += ")"
      }
    } else {
      text += "(…)"
    }
  }

  private func tuple(_ memory: UnsafeRawPointer, _ info: TypeInfo, _ depth: Int, _ text: inout String) {
    text += "("
    for (index, element) in info.metadata.tupleElements.enumerated() {
      if index > 0 { text += ", " }
      guard let type = try? types.type(of: element.metadata).get() else { text += "…"; continue }
      print(memory + element.offset, type, depth: depth, &text)
    }
    text += ")"
  }

  private func existential(_ memory: UnsafeRawPointer, _ info: TypeInfo, _ depth: Int, _ text: inout String) {
    if info.metadata.existentialForm == .error { text += Self.error(memory.load(as: UInt.self)); return }
    guard let (value, type) = info.openExistential(memory) else { text += "<\(Self.short(info.name))>"; return }
    print(value, type, depth: depth, &text)
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
