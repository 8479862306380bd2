// Instance — what is asked of a class instance by its address alone.
internal import HookRuntime

/// The runtime's `bool swift_isDeallocating(HeapObject *)`: its deinit runs or ran. One pointer in a register in either convention.
@_silgen_name("swift_isDeallocating")
private func isDeallocating(_ object: UnsafeRawPointer) -> Bool

enum Instance {
  static func type(_ object: UnsafeRawPointer) -> Metadata { Metadata(object.load(as: UnsafeRawPointer.self)) }

  static func typeName(_ object: UnsafeRawPointer) -> String { (try? TypeResolver.shared.type(of: type(object)).get().name) ?? "object" }

  /// Its deinit runs: it can be read, and nobody may keep it.
  static func isEnding(_ address: UInt) -> Bool { isDeallocating(UnsafeRawPointer(bitPattern: address)!) }

  /// The instance as a value, retained.
  static func value(_ address: UInt) -> AnyObject {
    // The address is of a native object that is alive: whoever lent it keeps it for the call.
    Unmanaged<AnyObject>.fromOpaque(UnsafeRawPointer(bitPattern: address)!).takeUnretainedValue()
  }
}
