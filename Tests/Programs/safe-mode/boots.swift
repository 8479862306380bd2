// Starts that end in every way, as BOOT_END says: while patches are loaded, in main, in a function that a patch hooks, after it was up.
import Dispatch
import Glibc

let how = getenv("BOOT_END").map { String(cString: $0) } ?? "good"
func say(_ text: String) { _ = (text + "\n").withCString { write(1, $0, strlen($0)) } }

/// Called by the patch that is loaded first.
@inline(never) public func atLoad() {
  switch how {
  case "kill-load": kill(getpid(), SIGKILL)
  case "abort-load": abort()
  default: break
  }
}
@inline(never) public func loaded(_ name: String) {
  say("loaded \(name)")
  if name == "a" { isWatched = true }
}
/// The patch with the watchdog is there. Written before `main` alone, by the thread that runs it.
nonisolated(unsafe) var isWatched = false
/// A patch hooks it.
@inline(never) public func hit() -> Int { UnsafePointer<Int>(bitPattern: 8 &+ Int(getppid() & 0))!.pointee }
/// A patch gives it another number, and is over when the program crashes.
@inline(never) public func changed(_ number: Int) -> Int { number &* 2 }
@inline(never) public func isThere(_ path: String) -> Bool { access(path, F_OK) == 0 }
/// A patch hooks it, and its handler ends the program in a way that is not contained.
@inline(never) public func handled() { say("handled") }
@inline(never) public func stop() { abort() }
/// A patch says behind it that the program is up.
@inline(never) public func ready() { say("ready") }

@main enum Boots {
  static func main() {
    say("main")
    switch how {
    case "code": exit(3)
    case "segv": say("\(UnsafePointer<Int>(bitPattern: 16 &+ Int(getppid() & 0))!.pointee)")
    case "blocked":
      // The kernel would ask nobody.
      var all = sigset_t()
      sigfillset(&all)
      sigprocmask(SIG_BLOCK, &all, nil)
      signal(SIGSEGV, SIG_DFL)
      say("\(UnsafePointer<Int>(bitPattern: 16 &+ Int(getppid() & 0))!.pointee)")
    case "abort": abort()
    case "trap": fatalError("closed")
    case "handler": handled()
    case "changed": if changed(0) != 0 { fatalError("changed") }
    case "hang":
      // Without the watchdog it ends well.
      if isWatched {
        // Not the first work of the queue: the watchdog has seen it go on before.
        DispatchQueue.main.asyncAfter(deadline: .now() + 0.3) { while true { sleep(60) } }
        dispatchMain()
      }
    case "hit": say("\(hit())")
    case "memory":
      // As much as there is: 64 MiB more than it has.
      var pages = 0, limit = rlimit()
      if let file = fopen("/proc/self/statm", "r") {
        var text = [CChar](repeating: 0, count: 64)
        fgets(&text, 64, file)
        fclose(file)
        pages = atol(text)
      }
      limit.rlim_cur = rlim_t(pages * 4096 + (64 << 20))
      limit.rlim_max = limit.rlim_cur
      setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
      var all: [[UInt8]] = []
      while true { all.append([UInt8](repeating: 1, count: 4000)) }
    case "up-abort":
      ready()
      abort()
    case "kill": kill(getpid(), SIGKILL)
    case "term": kill(getpid(), SIGTERM)
    case "int": kill(getpid(), SIGINT)
    case "wait":
      // Until the input ends; the last line tells what becomes of it.
      var last = ""
      while let line = readLine() { last = line }
      if last == "abort" { abort() }
      if last == "kill" { kill(getpid(), SIGKILL) }
    default: break
    }
  }
}
