// Instance — what is asked of a class instance by its address alone.
private import CHookTrampoline
internal import HookRuntime

enum Instance {
  /// The class of an object that is alive.
  static func type(_ object: UnsafeRawPointer) -> Metadata { Metadata(object.load(as: UnsafeRawPointer.self)) }

  /// The name of its class; "object" where that is not known.
  static func typeName(_ object: UnsafeRawPointer) -> String { (try? TypeResolver.shared.type(of: type(object)).get().name) ?? "object" }

  /// Its deinit runs: it can be read, and nobody may keep it.
  static func isEnding(_ address: UInt) -> Bool { hkt_is_ending(UnsafeRawPointer(bitPattern: address)!) }

  /// The instance as a value, retained.
  static func value(_ address: UInt) -> AnyObject {
    // The address is of a native object that is alive: whoever borrowed it keeps it for the call.
    Unmanaged<AnyObject>.fromOpaque(UnsafeRawPointer(bitPattern: address)!).takeUnretainedValue()
  }
}
