// PatchCallback — host functions of a patch: from C's two pointers to the patch and the call.
internal import CLuaShim
internal import LuaBridge

/// A host function with a patch as context.
func withPatch(_ context: UnsafeMutableRawPointer?, _ callback: UnsafeMutablePointer<SHLCallback>?, _ body: (Environment, LuaCallback) -> Int32)
  -> Int32
{
  // The context is the patch, which outlives its state.
  Unmanaged<Environment>.fromOpaque(context!)._withUnsafeGuaranteedRef { body($0, LuaCallback(callback!)) }
}

extension LuaCallback {
  /// The receiver's running call, for methods and fields of `call`.
  var call: UnsafeMutablePointer<ScriptCall>? { raw.pointee.host?.assumingMemoryBound(to: ScriptCall.self) }
}
