// HandlerDoors — what the C code on the path of every handler's call asks of Swift (CHandler), where that is not done with bits.
internal import CHandler
internal import CHookTrampoline
internal import CLuaShim

enum HandlerDoors {
  /// C knows them. Asked before the first handler is installed.
  static let areOpen: Bool = {
    ScriptCall.checkLayout()
    ScriptThread.checkLayout()
    var doors = CHandlerHost(
      make_thread: { UnsafeMutableRawPointer(ScriptThread.of($0)).assumingMemoryBound(to: CHandlerThread.self) },
      is_mismatch: { hook, call in with(hook) { $0.isMismatch(CallView(call)) } },
      pass: { hook, call, phase in with(hook) { $0.pass(call, phase) } },
      invoke: { hook, call, count in with(hook) { $0.invoke(script(call), Int(count)) } },
      ended: { hook, call, status, result, invocation in with(hook) { $0.ended(script(call), status, result, invocation) } },
      end: { script($0).pointee.end() },
      fall: { LuaHook.fall($0) })
    chandler_set_host(&doors)
    return true
  }()

  /// What C takes for the handler of a hook: the first field of the object, behind its class and its reference count.
  static func facts(of hook: LuaHook) -> UnsafeMutablePointer<CHandler> {
    Unmanaged.passUnretained(hook).toOpaque().load(fromByteOffset: 16, as: UnsafeMutablePointer<CHandler>.self)
  }

  /// The context of a handler's layer is its hook, which whoever installed the layer keeps.
  @inline(__always)
  private static func with<R>(_ context: UnsafeMutableRawPointer, _ body: (LuaHook) -> R) -> R {
    Unmanaged<LuaHook>.fromOpaque(context)._withUnsafeGuaranteedRef(body)
  }

  /// One memory, which Swift and C name differently: ScriptCall.checkLayout.
  @inline(__always)
  private static func script(_ call: UnsafeMutablePointer<CHandlerCall>) -> UnsafeMutablePointer<ScriptCall> {
    UnsafeMutableRawPointer(call).assumingMemoryBound(to: ScriptCall.self)
  }
}
