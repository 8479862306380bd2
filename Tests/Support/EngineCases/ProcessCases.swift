// What else there is in a process: other engines, forked copies, other copies of this library.
import Checks
import CHookTrampoline
import EngineSubjects
import Glibc
import HookRuntime

/// A library that patches code without asking: it writes a jump over a function's first bytes and keeps what was there.
private final class OtherEngine {
  private let body: UnsafeMutableRawPointer
  private var saved: [UInt8] = []
  /// As the file has them.
  let original: [UInt8]
  private static let size = 12

  init(_ selector: String) throws {
    let request = try requests(selector, Wish())[0]
    original = Array(
      UnsafeRawBufferPointer(start: request.image.fileBytes(of: request.family.bodies[0], count: Self.size), count: Self.size))
    body = UnsafeMutableRawPointer(bitPattern: UInt(request.family.bodies[0].address))!
  }

  var bytes: [UInt8] { Array(UnsafeRawBufferPointer(start: body, count: Self.size)) }

  func write(_ bytes: [UInt8]) {
    let page = UnsafeMutableRawPointer(bitPattern: UInt(bitPattern: body) & ~4095)!
    mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC)
    body.copyMemory(from: bytes, byteCount: bytes.count)
    mprotect(page, 8192, PROT_READ | PROT_EXEC)
  }

  /// `movabs $target, %rax; jmp *%rax`
  func install(_ target: @convention(c) (Int) -> Int) {
    saved = bytes
    let address = UInt(bitPattern: unsafeBitCast(target, to: UnsafeRawPointer.self))
    write([0x48, 0xB8] + withUnsafeBytes(of: address) { Array($0) } + [0xFF, 0xE0])
  }
  func remove() { write(saved) }
}

/// Integers go the same way in C as in Swift.
private let theirs: @convention(c) (Int) -> Int = { $0 + 7000 }
private let target = "EngineSubjects.free(_:)"

/// Runs `body` in a forked child; answers its exit status, or what ended it.
private func inChild(_ body: () -> Int32) -> Int32 {
  typealias Fork = @convention(c) () -> pid_t
  let fork = unsafeBitCast(dlsym(nil, "fork"), to: Fork.self)  // Swift hides it; here one thread is running
  let child = fork()
  if child == 0 { _exit(body()) }
  var status: Int32 = 0
  waitpid(child, &status, 0)
  return status & 0x7F == 0 ? status >> 8 & 0xFF : -(status & 0x7F)
}

@MainActor let processCases: [Case] = [
  (
    "A8 another engine before us: refused, and nothing of it is touched",
    {
      let other = try OtherEngine(target)
      let clean = other.bytes
      other.install(theirs)
      let patched = other.bytes
      check(refusal { try note("x", target) }, "foreign-bytes", "refused")
      check(other.bytes, patched, "their bytes")
      check(free(1), 7001, "theirs runs")
      other.remove()
      check(other.bytes, clean, "they are gone")
      let token = try note("ours", target)
      _ = Log.take()
      check(free(1), 1, "ours runs")
      check(Log.take(), "ours free ", "hooked")
      engine.remove(token)
    }
  ),
  (
    "A8 another engine after us: said, never overwritten; removal in either order",
    {
      for theyGoFirst in [true, false] {
        let token = try note("ours", target)
        let other = try OtherEngine(target)
        let ours = other.bytes
        other.install(theirs)
        let patched = other.bytes
        check(free(1), 7001, "theirs runs")
        check(engine.changesElsewhere(token).first?.code, "foreign-bytes", "said")
        check(engine.info(token)?.isChangedElsewhere, true, "listed")
        check(refusal { try note("x", target) }, "foreign-bytes", "another hook is refused")
        if theyGoFirst { other.remove() }
        check(engine.remove(token), true, "removed")
        check(other.bytes, theyGoFirst ? ours : patched, "their bytes stay")
        if !theyGoFirst {
          check(free(1), 7001, "theirs runs on")
          other.remove()
        }
        _ = Log.take()
        check(free(1), 1, "the original runs")
        check(Log.take(), "free ", "unhooked")
      }
    }
  ),
  (
    "A8 another engine that puts the file's bytes back: the next hook diverts anew",
    {
      let other = try OtherEngine("EngineSubjects.Shape.fixed(_:)")
      let circle = Circle(tag: 2)
      let token = try note("ours", "\(shape).fixed(_:)")
      other.write(other.original)
      _ = Log.take()
      _ = fixed(circle, 1)
      check(Log.take(), "Shape.fixed ", "taken away")
      let second = try note("again", "\(shape).fixed(_:)")
      _ = fixed(circle, 1)
      check(Log.take(), "again ours Shape.fixed ", "both are back")
      engine.remove([token, second])
    }
  ),
  (
    "after fork hooks are off in the child unless asked",
    {
      let token = try note("hook", "\(shape).scale(_:)", Wish(position: .around))
      let circle = Circle(tag: 1)
      func seen() -> Bool {
        _ = Log.take()
        _ = scale(circle, 1)
        return Log.take() != "Shape.scale "
      }
      check(inChild { seen() ? 1 : 0 }, 0, "off in the child")
      check(seen(), true, "on in the parent")
      check(
        inChild {
          if !engine.resumeAfterFork() || !seen() { return 1 }
          // The child is a process of its own: what it changes is its own.
          guard let other = try? note("child", "\(shape).fixed(_:)") else { return 2 }
          _ = Log.take()
          _ = fixed(circle, 1)
          if Log.take() != "child Shape.fixed " { return 3 }
          return engine.remove(other) && engine.remove(token) && !seen() ? 0 : 4
        }, 0, "asked for in the child")
      check(seen(), true, "on in the parent")
      engine.hooksForkedChildren = true
      check(inChild { seen() ? 0 : 1 }, 0, "asked for before")
      engine.hooksForkedChildren = false
      check(inChild { seen() ? 1 : 0 }, 0, "off again")
      engine.remove(token)
    }
  ),
]

/// Tries to hook in a process where another copy of the library hooks already; says what it was told.
func secondCopy() -> Int32 {
  print("refused: \(sentence { try note("x", target) })")
  return free(1) == 1 && engine.list().isEmpty ? 0 : 1
}
