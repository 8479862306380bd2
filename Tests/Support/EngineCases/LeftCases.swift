// Calls that are left without returning (longjmp): in a handler, and in an original that a handler is around of.
import Checks
import CHookTrampoline
import EngineSubjects
import Glibc
import HookRuntime

/// Runs in a process of its own, where Tests/Programs/scopes/leave.c is loaded.
func leftWithoutReturning() -> Int32 {
  guard let call = dlsym(nil, "cases_call"), let leave = dlsym(nil, "cases_leave"), let scribble = dlsym(nil, "cases_scribble") else {
    print("engine-cases: '--left' needs the library of Tests/Programs/scopes in LD_PRELOAD")
    return 2
  }
  // Those functions, by their declarations in leave.c.
  Left.call = unsafeBitCast(call, to: Left.Call.self)
  Left.leave = unsafeBitCast(leave, to: Left.Plain.self)
  Left.scribble = unsafeBitCast(scribble, to: Left.Plain.self)
  do {
    for position in [Position.before, .around, .after] { try handlerIsLeft(position) }
    try originalIsLeft()
  } catch { check("\(error)", "none", "no error") }
  print("\(failures) failures")
  return failures == 0 ? 0 : 1
}

private enum Left {
  typealias Call = @convention(c) (@convention(c) () -> Void) -> Bool
  typealias Plain = @convention(c) () -> Void
  // Set once, on the thread that uses them.
  nonisolated(unsafe) static var call: Call!
  nonisolated(unsafe) static var leave: Plain!
  nonisolated(unsafe) static var scribble: Plain!
}

private func handlerIsLeft(_ position: Position) throws {
  var (ran, leaving) = (0, false)
  let token = try hook("EngineSubjects.free(_:)", Wish(position: position)) { call in
    ran += 1
    if position == .around { call.proceed() }
    if leaving { Left.leave() }
  }
  for round in 1...3 {
    leaving = true
    check(Left.call { _ = free(1) }, true, "\(position): the call is left")
    leaving = false
    Left.scribble()
    check(free(7), 7, "\(position): the next call")
    check(ran, 2 * round, "\(position): runs its handler")
  }
  check(hkt_thread().pointee.at_work, 0, "\(position): no handler is at work")
  check(engine.remove(token), true, "\(position): removed")
  hkt_reclaim()
  check(hkt_retired_waiting(), 0, "\(position): no set is held")
}

/// The calls around one that is left go on.
private func originalIsLeft() throws {
  let circle = Circle(tag: 1)
  var depths: [UInt32] = []
  let outer = try hook("\(shape).down(_:)", Wish(position: .around)) { call in
    check(Left.call { _ = free(1) }, true, "the inner call is left")
    Left.scribble()
    call.proceed()
    _ = free(2)
  }
  let inner = try hook("EngineSubjects.free(_:)", Wish(position: .around)) { call in
    depths.append(hkt_call_depth(call.raw))
    if call.argument == 1 { Left.leave() }
    call.proceed()
  }
  check([circle.down(0), circle.down(0)], [1, 1], "the outer calls' results")
  check(depths, [1, 1, 1, 1], "how deep the inner ones were")
  check(hkt_thread().pointee.top == nil, true, "no call is left over")
  check(engine.remove([outer, inner]), 2, "removed")
  hkt_reclaim()
  check(hkt_retired_waiting(), 0, "no set is held")
}
