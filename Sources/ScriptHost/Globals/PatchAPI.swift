// PatchAPI — all globals of a patch and all classes of its handles: the list of those that have files of their own, with `patch` and `print`.
internal import CHookTrampoline
internal import CLuaShim
internal import HookRuntime
internal import LuaBridge

enum PatchAPI {
  static func register(_ patch: Environment) throws(PatchError) {
    let context = Unmanaged.passUnretained(patch).toOpaque()
    let state = patch.state
    HostTime.tell(shl_exempt_begin, shl_exempt_end)
    shl_report_waits(hkt_note_waited)
    LimitedWork.limit(by: .init(begin: shl_work_begin, isOver: shl_work_is_over, end: shl_work_end))
    var problem = SHL_OK
    func check(_ status: SHLStatus) { if problem == SHL_OK { problem = status } }

    let classMaker = addClasses(patch, check)
    CallAPI.register(state, context, arguments: patch.classes.arguments, check)
    ClassAPI.register(patch, context, classMaker, check)
    let classes = patch.classes
    for (handleClass, members) in [
      (UInt32(SHL_CLASS_CALL), CallAPI.members), (classes.method, SelectorAPI.members), (classes.method, HookAPI.positions),
      (classes.type, HookAPI.positions), (classes.hook, HookAPI.members), (classes.rule, RuleAPI.members), (classes.timer, TimerAPI.members),
      (classes.subscription, NotificationAPI.members), (classes.preset, UseAPI.members), (classes.observation, ObserveAPI.members),
      (classes.delegates, DelegateAPI.members),
    ] {
      check(shl_members(state, handleClass, members.list.baseAddress, Int32(members.list.count), context))
    }
    // Before the functions, which are made when a text names them: this does.
    check(shl_constant(state, 1, "swift.null", "swift.null"))
    check(shl_register_all(state, functions.list.baseAddress, Int32(functions.list.count), context))
    // What `swift.case("name", nil)` holds: no script writes it.
    check(shl_constant(state, 2, nil, "nil"))
    patch.lua.setPrint { [unowned patch] text, source, line in
      patch.log.log(level: "print", patch: patch.id, message: text, source: source.isEmpty ? patch.fileName : source, line: line)
    }
    guard problem == SHL_OK else { throw .noLua(String(cString: shl_status_text(problem))) }
  }

  /// The kinds of handles that scripts get. What Lua has of each is made with its first handle.
  /// - Returns: that of the global `class`.
  private static func addClasses(_ patch: Environment, _ check: (SHLStatus) -> Void) -> UInt32 {
    func add(_ handles: HandleClass, standsInFor other: UInt32 = 0, release: KeptHandles.Release? = nil) -> UInt32 {
      let (status, id) = handles.add(to: patch, standsInFor: other, release: release)
      check(status)
      return id
    }
    patch.classes.patch = Unmanaged.passUnretained(patch)
    patch.classes.object = add(ObjectAPI.handles)
    patch.classes.keptObject = add(ObjectAPI.handles, standsInFor: patch.classes.object, release: KeptHandles.releaseObject)
    patch.classes.weakObject = add(KeptHandles.weakHandles)
    patch.classes.value = add(ValueAPI.handles)
    patch.classes.ownedValue = add(ValueAPI.handles, release: KeptHandles.releaseValue)
    patch.classes.error = add(ErrorAPI.handles)
    patch.classes.keptError = add(ErrorAPI.handles, standsInFor: patch.classes.error, release: KeptHandles.releaseError)
    patch.classes.arguments = add(CallAPI.argumentHandles)
    patch.classes.method = add(SelectorAPI.methodHandles)
    patch.classes.type = add(TypeAPI.handles)
    patch.classes.hook = add(HookAPI.handles)
    patch.classes.rule = add(RuleAPI.handles)
    patch.classes.observation = add(ObserveAPI.handles)
    patch.classes.delegates = add(DelegateAPI.handles)
    patch.classes.timer = add(TimerAPI.handles)
    patch.classes.subscription = add(NotificationAPI.handles)
    patch.classes.preset = add(UseAPI.handles)
    patch.classes.closure = add(ClosureAPI.handles)
    patch.classes.function = add(ClosureAPI.functionHandles)
    return add(SelectorAPI.classMaker)
  }

  /// All global functions.
  private static let functions = NamedFunctions(
    [
      [("patch", patchFunction)], SelectorAPI.functions, HookAPI.functions, LogAPI.functions, UnitAPI.functions, UseAPI.functions, StoreAPI.functions,
      TestAPI.functions, SwiftAPI.functions, CallInAPI.functions,
      LeftCopies.functions, MessageAPI.functions, RuleAPI.functions, ScreenAPI.functions, StallAPI.functions, SlowAPI.functions,
      ExposureAPI.functions,
      ProfileAPI.functions, NetworkAPI.functions, JSONAPI.functions, GuardAPI.functions, TimerAPI.functions, ExtendAPI.functions,
      NotificationAPI.functions, ObserveAPI.functions, DelegateAPI.functions, ImplementAPI.functions, ClosureAPI.functions, BootAPI.functions,
    ].flatMap { $0 })

  /// The header was read before the file ran; running it only checks that it is used as a statement with a table.
  private static let patchFunction: SHLFunction = { context, callback in
    withPatch(context, callback) { patch, callback in
      guard callback[0].tag == SHL_TABLE else { return callback.fail("'patch' takes a table of literals") }
      guard patch.hasHeader, !patch.didRunHeader else {
        return callback.fail("'patch' is the first statement of a file, once: it is read without running the file")
      }
      patch.didRunHeader = true
      return callback.done()
    }
  }
}
