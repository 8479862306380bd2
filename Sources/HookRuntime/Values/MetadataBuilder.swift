// MetadataBuilder — metadata of types that a name alone cannot spell: made of types of one call, or of private ones.
//
// Each type is asked of the runtime's own entry points, which make it once and for ever. Signatures: swift/Runtime/
// Metadata.h (Swift 6.3); all take and return words, so that the C convention agrees with theirs.
private import Glibc
internal import SwiftMangling

struct MetadataBuilder {
  let types: TypeResolver

  /// nil where some part is not known.
  func metadata(_ type: TypeSyntax) -> Metadata? {
    switch type {
    case .known(let address): return UnsafeRawPointer(bitPattern: address).map(Metadata.init)
    case .dynamicSelf(let inner): return metadata(inner)
    case .nominal(let name, _, let arguments): return nominal(name, arguments)
    case .tuple(let elements): return tuple(elements)
    case .metatype(let instance): return part(instance).flatMap(Self.metatype)
    case .function(let function): return self.function(function)
    case .dependentMember(let base, let name, let owner):
      guard let base = part(base), let owner, let proto = types.protocolDescriptor(owner) else { return nil }
      return base.associatedType(name, of: proto)
    default: return nil
    }
  }

  /// A part of a type, by its name where it has one.
  private func part(_ type: TypeSyntax) -> Metadata? {
    guard case .success(let info) = types.type(type) else { return types.metadata(type) }
    return info.metadata
  }

  // MARK: Nominal types

  private func nominal(_ name: NominalName, _ arguments: [TypeSyntax]) -> Metadata? {
    guard let descriptor = types.descriptor(name) else { return nil }
    guard let generic = descriptor.genericContext else { return arguments.isEmpty && !descriptor.isGeneric ? descriptor.metadata() : nil }
    guard arguments.count == generic.parameters.count else { return nil }
    var table: [GenericParameterKey: TypeSyntax] = [:]
    var words: [UnsafeRawPointer] = []
    var position = 0
    for (depth, count) in descriptor.genericLevels.enumerated() {
      for index in 0..<count {
        guard position < arguments.count, case .type = generic.parameters[position].kind, let argument = part(arguments[position]) else {
          return nil
        }
        table[GenericParameterKey(depth: depth, index: index)] = .known(UInt(bitPattern: argument.pointer))
        if generic.parameters[position].isKey { words.append(argument.pointer) }
        position += 1
      }
    }
    guard position == arguments.count else { return nil }
    for requirement in generic.requirements where requirement.isKey {
      guard case .conformance(let proto) = requirement.kind, let subject = types.syntax(requirement.subject),
        let type = part(subject.substituting(table)), let witnesses = type.conformance(to: proto)
      else { return nil }
      words.append(witnesses)
    }
    guard words.count == generic.keyArguments else { return nil }
    return descriptor.metadata(arguments: words)
  }

  // MARK: Structural types

  private typealias TupleMaker =
    @convention(c) (
      UInt, UInt, UnsafePointer<UnsafeRawPointer>, UnsafePointer<CChar>?, UnsafeRawPointer?
    ) -> UnsafeRawPointer?
  private static let makeTuple = dlsym(nil, "swift_getTupleTypeMetadata").map { unsafeBitCast($0, to: TupleMaker.self) }

  private func tuple(_ elements: [TupleElement]) -> Metadata? {
    if elements.isEmpty { return Metadata(Void.self) }
    var parts: [UnsafeRawPointer] = []
    for element in elements {
      if case .packExpansion = element.type { return nil }
      guard let part = part(element.type) else { return nil }
      parts.append(part.pointer)
    }
    // One element in parentheses is that element.
    if parts.count == 1, elements[0].label == nil { return Metadata(parts[0]) }
    let labels = elements.contains { $0.label != nil } ? elements.map { ($0.label ?? "") + " " }.joined() : nil
    // Flags: the count; bit 16 asks the runtime to copy the labels.
    let flags = UInt(parts.count) | (labels == nil ? 0 : 0x1_0000)
    if let labels { return labels.withCString { Self.makeTuple?(0, flags, parts, $0, nil) }.map(Metadata.init) }
    return Self.makeTuple?(0, flags, parts, nil, nil).map(Metadata.init)
  }

  private typealias MetatypeMaker = @convention(c) (UnsafeRawPointer) -> UnsafeRawPointer?
  private static let makeMetatype = dlsym(nil, "swift_getMetatypeMetadata").map { unsafeBitCast($0, to: MetatypeMaker.self) }
  private static func metatype(_ instance: Metadata) -> Metadata? { makeMetatype?(instance.pointer).map(Metadata.init) }

  private typealias FunctionMaker =
    @convention(c) (
      UInt, UnsafePointer<UnsafeRawPointer>?, UnsafePointer<UInt32>?, UnsafeRawPointer
    ) -> UnsafeRawPointer?
  private static let makeFunction = dlsym(nil, "swift_getFunctionTypeMetadata").map { unsafeBitCast($0, to: FunctionMaker.self) }

  /// A plain function type; those with global actors, typed errors and other rare attributes are not made.
  private func function(_ function: FunctionType) -> Metadata? {
    guard function.isolation == .unspecified, !function.isDifferentiable, !function.hasSendingResult, let result = part(function.result)
    else { return nil }
    // Function type flags: count in bits 0-15, convention 16-23, throws 24, parameter flags 25, escaping 26, async 29, sendable 30.
    var flags = UInt(function.parameters.count)
    switch function.convention {
    case .swift, .escapingAutoclosure: flags |= 1 << 26
    case .noescape, .noescapeAutoclosure: break
    case .thin: flags |= 2 << 16
    case .c: flags |= 3 << 16
    case .block, .escapingBlock, .other: return nil
    }
    switch function.thrown {
    case .never: break
    case .any: flags |= 1 << 24
    case .typed: return nil
    }
    if function.isAsync { flags |= 1 << 29 }
    if function.isSendable { flags |= 1 << 30 }
    var parameters: [UnsafeRawPointer] = []
    var parameterFlags: [UInt32] = []
    for parameter in function.parameters {
      guard let type = part(parameter.type) else { return nil }
      parameters.append(type.pointer)
      // Ownership in the low bits: 1 inout, 2 shared, 3 owned; 0x80 variadic, 0x100 autoclosure, 0x400 isolated, 0x800 sending.
      var own: UInt32 = parameter.isInout ? 1 : parameter.ownership == .borrowed ? 2 : parameter.ownership == .owned ? 3 : 0
      if parameter.isVariadic { own |= 0x80 }
      if parameter.isAutoclosure { own |= 0x100 }
      if parameter.isIsolated { own |= 0x400 }
      if parameter.isSending { own |= 0x800 }
      parameterFlags.append(own)
    }
    if parameterFlags.contains(where: { $0 != 0 }) {
      flags |= 1 << 25
      return Self.makeFunction?(flags, parameters, parameterFlags, result.pointer).map(Metadata.init)
    }
    return Self.makeFunction?(flags, parameters, nil, result.pointer).map(Metadata.init)
  }
}

extension TypeDescriptor {
  private typealias Accessor0 = @convention(c) (UInt) -> UnsafeRawPointer
  private typealias Accessor1 = @convention(c) (UInt, UnsafeRawPointer) -> UnsafeRawPointer
  private typealias Accessor2 = @convention(c) (UInt, UnsafeRawPointer, UnsafeRawPointer) -> UnsafeRawPointer
  private typealias Accessor3 = @convention(c) (UInt, UnsafeRawPointer, UnsafeRawPointer, UnsafeRawPointer) -> UnsafeRawPointer
  private typealias AccessorMany = @convention(c) (UInt, UnsafePointer<UnsafeRawPointer>) -> UnsafeRawPointer

  /// Calls the metadata accessor of a generic type with its key arguments (blocking until the metadata is complete).
  func metadata(arguments: [UnsafeRawPointer]) -> Metadata? {
    guard let accessor = accessor else { return nil }
    // Up to three arguments go in registers, more as an array; see TypeDescriptor.metadata() for the convention.
    switch arguments.count {
    case 0: return Metadata(unsafeBitCast(accessor, to: Accessor0.self)(0))
    case 1: return Metadata(unsafeBitCast(accessor, to: Accessor1.self)(0, arguments[0]))
    case 2: return Metadata(unsafeBitCast(accessor, to: Accessor2.self)(0, arguments[0], arguments[1]))
    case 3: return Metadata(unsafeBitCast(accessor, to: Accessor3.self)(0, arguments[0], arguments[1], arguments[2]))
    default: return Metadata(unsafeBitCast(accessor, to: AccessorMany.self)(0, arguments))
    }
  }
}
