// PlainValue — values that can be written down and made again from what was written: numbers, texts, Optionals, arrays, tuples, structs
// and enum cases of these. What is not one of them has no text: references, closures, what a library keeps to itself.
internal import HookRuntime
internal import Journal

enum PlainValue {
  private static let longestText = 4096, mostElements = 64, deepest = 8

  /// Nil where it cannot be made again.
  static func text(_ memory: UnsafeRawPointer, _ info: TypeInfo, depth: Int = 0) -> JSONValue? {
    guard depth < deepest else { return nil }
    switch info.kind {
    case .void: return .array([])
    case .bool: return .bool(memory.load(as: UInt8.self) & 1 == 1)
    case .integer, .float: return (info.metadata.type as? any PlainNumber.Type)?.text(memory).map { .string($0) }
    case .string:
      let text = memory.assumingMemoryBound(to: String.self).pointee
      return text.utf8.count <= longestText ? .string(text) : nil
    case .optional(let payload):
      // Case 0 holds the payload, which begins where the Optional does.
      if info.metadata.enumTag(memory) != 0 { return .null }
      return text(memory, payload, depth: depth + 1).map { .array([$0]) }
    case .enumeration:
      guard let tag = info.metadata.enumTag(memory), info.cases.indices.contains(tag), !info.cases[tag].hasPayload else { return nil }
      return .string(info.cases[tag].name)
    case .structure, .tuple:
      if let array = info.metadata.type as? any PlainArray.Type { return array.text(memory, depth + 1) }
      guard let parts = parts(info) else { return nil }
      var texts: [JSONValue] = []
      for (field, part) in parts {
        guard let text = text(memory + field.offset, part, depth: depth + 1) else { return nil }
        texts.append(text)
      }
      return .array(texts)
    case .cString, .object, .closure, .metatype, .existential, .opaque: return nil
    }
  }

  /// Makes the value of a text in memory; false, and nothing is there, where the text is of no such value.
  static func make(_ text: JSONValue, _ info: TypeInfo, at memory: UnsafeMutableRawPointer) -> Bool {
    switch info.kind {
    case .void: return true
    case .bool:
      guard let value = text.bool else { return false }
      memory.storeBytes(of: value ? 1 : 0, as: UInt8.self)
      return true
    case .integer, .float:
      guard let number = info.metadata.type as? any PlainNumber.Type, let digits = text.text else { return false }
      return number.make(digits, memory)
    case .string:
      guard let text = text.text else { return false }
      memory.initializeMemory(as: String.self, to: text)
      return true
    case .optional(let payload):
      if case .null = text {
        info.metadata.injectEnumTag(memory, 1)
        return true
      }
      guard let inner = text.elements?.first, make(inner, payload, at: memory) else { return false }
      info.metadata.injectEnumTag(memory, 0)
      return true
    case .enumeration:
      guard let name = text.text, let tag = info.cases.firstIndex(where: { $0.name == name && !$0.hasPayload }) else { return false }
      info.metadata.injectEnumTag(memory, tag)
      return true
    case .structure, .tuple:
      if let array = info.metadata.type as? any PlainArray.Type { return array.make(text, memory) }
      guard let parts = parts(info), let texts = text.elements, texts.count == parts.count else { return false }
      for (index, (field, part)) in parts.enumerated() where !make(texts[index], part, at: memory + field.offset) {
        for (field, part) in parts[..<index] { part.metadata.destroy(memory + field.offset) }
        return false
      }
      return true
    case .cString, .object, .closure, .metatype, .existential, .opaque: return false
    }
  }

  /// Fields that are all of the value; nil where there is more in it, or their types are not known.
  private static func parts(_ info: TypeInfo) -> [(StoredField, TypeInfo)]? {
    var parts: [(StoredField, TypeInfo)] = []
    var bytes = 0
    for field in info.fields {
      guard field.reference == .value, let type = try? field.type.get() else { return nil }
      parts.append((field, type))
      bytes = max(bytes, field.offset + type.size)
    }
    return bytes == info.size ? parts : nil
  }

  // MARK: Objects

  /// The stored properties of an object; nil where it holds anything else.
  static func fields(of object: UnsafeRawPointer) -> JSONValue? {
    let type = Metadata(object.load(as: UnsafeRawPointer.self))
    guard InstanceMaker.isWhole(type) else { return nil }
    var texts: [JSONValue] = []
    for field in type.storedFields {
      guard let info = try? field.type.get(), let text = text(object + field.offset, info) else { return nil }
      texts.append(text)
    }
    return .array(texts)
  }

  /// A new object with such properties, the caller's.
  static func object(of type: Metadata, _ texts: JSONValue) -> UnsafeMutableRawPointer? {
    guard let texts = texts.elements, texts.count == type.storedFields.count else { return nil }
    var values: [OwnedValue] = []
    for (field, text) in zip(type.storedFields, texts) {
      guard let info = try? field.type.get() else { break }
      let value = OwnedValue(uninitialized: info)
      guard make(text, info, at: value.memory) else {
        value.forget()
        break
      }
      values.append(value)
    }
    if values.count == texts.count, let object = InstanceMaker.object(of: type, values) { return object }
    for value in values { value.destroy() }
    return nil
  }
}

/// Numbers, as texts that lose nothing.
private protocol PlainNumber {
  /// The digits of the number at `memory`, which holds one of this type; nil: it has none.
  static func text(_ memory: UnsafeRawPointer) -> String?
  /// Initialises `memory` with the number of that text; false, and nothing is there, where the text is none of this type.
  static func make(_ text: String, _ memory: UnsafeMutableRawPointer) -> Bool
}
extension PlainNumber where Self: FixedWidthInteger {
  /// The number at `memory` as text.
  static func text(_ memory: UnsafeRawPointer) -> String? { String(memory.assumingMemoryBound(to: Self.self).pointee) }
  /// Puts the number that the text spells into `memory`, which holds none yet; false: it spells none.
  static func make(_ text: String, _ memory: UnsafeMutableRawPointer) -> Bool {
    guard let number = Self(text) else { return false }
    memory.initializeMemory(as: Self.self, to: number)
    return true
  }
}
extension Int: PlainNumber {}
extension Int8: PlainNumber {}
extension Int16: PlainNumber {}
extension Int32: PlainNumber {}
extension Int64: PlainNumber {}
extension UInt: PlainNumber {}
extension UInt8: PlainNumber {}
extension UInt16: PlainNumber {}
extension UInt32: PlainNumber {}
extension UInt64: PlainNumber {}
extension Double: PlainNumber {
  // Every bit counts: NaN and -0 are values, too.
  /// The bits of the number at `memory`, in hexadecimal: no digit is lost.
  static func text(_ memory: UnsafeRawPointer) -> String? { String(memory.load(as: UInt64.self), radix: 16) }
  /// Puts the number with these bits into `memory`; false: the text is no hexadecimal number.
  static func make(_ text: String, _ memory: UnsafeMutableRawPointer) -> Bool {
    guard let bits = UInt64(text, radix: 16) else { return false }
    memory.storeBytes(of: bits, as: UInt64.self)
    return true
  }
}
extension Float: PlainNumber {
  /// The bits of the number at `memory`, in hexadecimal: no digit is lost.
  static func text(_ memory: UnsafeRawPointer) -> String? { String(memory.load(as: UInt32.self), radix: 16) }
  /// Puts the number with these bits into `memory`; false: the text is no hexadecimal number.
  static func make(_ text: String, _ memory: UnsafeMutableRawPointer) -> Bool {
    guard let bits = UInt32(text, radix: 16) else { return false }
    memory.storeBytes(of: bits, as: UInt32.self)
    return true
  }
}

private protocol PlainArray {
  /// The elements of the array at `memory`, which holds one of this type; nil where one of them has no text, or there are more than 64.
  static func text(_ memory: UnsafeRawPointer, _ depth: Int) -> JSONValue?
  /// Initialises `memory` with an array of the elements written; false, and nothing is there, where one cannot be made.
  static func make(_ text: JSONValue, _ memory: UnsafeMutableRawPointer) -> Bool
}
extension Array: PlainArray {
  /// The elements of the array at `memory`; nil where there are more than 64, or one has no text.
  static func text(_ memory: UnsafeRawPointer, _ depth: Int) -> JSONValue? {
    guard case .success(let info) = TypeResolver.shared.type(of: Metadata(Element.self)) else { return nil }
    let array = memory.assumingMemoryBound(to: Self.self).pointee
    guard array.count <= 64 else { return nil }
    var texts: [JSONValue] = []
    for element in array {
      guard let text = withUnsafePointer(to: element, { PlainValue.text(UnsafeRawPointer($0), info, depth: depth) }) else { return nil }
      texts.append(text)
    }
    return .array(texts)
  }

  /// Puts an array of these elements into `memory`, which holds none yet; false, with nothing put, where one cannot be made.
  static func make(_ text: JSONValue, _ memory: UnsafeMutableRawPointer) -> Bool {
    guard case .success(let info) = TypeResolver.shared.type(of: Metadata(Element.self)), let texts = text.elements else { return false }
    var array: Self = []
    for text in texts {
      let value = OwnedValue(uninitialized: info)
      guard PlainValue.make(text, info, at: value.memory) else {
        value.forget()
        return false
      }
      array.append(value.memory.assumingMemoryBound(to: Element.self).move())
      value.forget()
    }
    memory.initializeMemory(as: Self.self, to: array)
    return true
  }
}
