// Crashes beside others who care for signals: HOW tells who, and how the program ends.
import Glibc
import Synchronization

let how = CommandLine.arguments[1]
func say(_ text: String) { _ = (text + "\n").withCString { write(1, $0, strlen($0)) } }
@inline(never) public func work(_ n: Int) -> Int { n &* 3 &+ Int(getppid() & 0) }
@inline(never) func crash() { say("\(UnsafePointer<Int>(bitPattern: 8 &+ (work(0) & 0))!.pointee)") }
@inline(never) func deep(_ n: Int) -> Int { n == 42 ? n : deep(n &+ 2 | 1) &+ work(n) }

let waiting = Atomic(0), ready = Atomic(0)
nonisolated(unsafe) var former = sigaction()
func own(_ signal: Int32, chains: Bool) {
  var action = sigaction()
  action.sa_flags = Int32(SA_SIGINFO) | Int32(SA_ONSTACK)
  if chains {
    action.__sigaction_handler.sa_sigaction = { number, info, context in
      say("own handler")
      // Without one before it, the end that there is without any.
      if let before = former.__sigaction_handler.sa_sigaction { before(number, info, context) } else { _ = Glibc.signal(number, SIG_DFL) }
    }
  } else {
    action.__sigaction_handler.sa_sigaction = { _, _, _ in
      say("own handler")
      _exit(7)
    }
  }
  sigaction(signal, &action, &former)
}

/// Whether this thread has it blocked, as the C library tells.
func blocked(_ signal: Int32) -> Bool {
  var now = sigset_t()
  pthread_sigmask(SIG_BLOCK, nil, &now)
  return sigismember(&now, signal) == 1
}
/// What is done of a signal, as the C library tells: 0 the default, 1 nothing, a handler.
func action(_ signal: Int32) -> Int {
  var now = sigaction()
  sigaction(signal, nil, &now)
  return unsafeBitCast(now.__sigaction_handler.sa_handler, to: Int.self)
}

_ = work(1)
switch how {
case "plain": crash()
case "after-chains":
  own(SIGSEGV, chains: true)
  crash()
case "after-alone":
  own(SIGSEGV, chains: false)
  crash()
case "blocked":
  var set = sigset_t()
  sigfillset(&set)
  pthread_sigmask(SIG_BLOCK, &set, nil)
  crash()
case "blocked-thread":
  // A thread that has the mask of the one that made it.
  var set = sigset_t()
  sigfillset(&set)
  sigprocmask(SIG_SETMASK, &set, nil)
  var thread = pthread_t()
  pthread_create(&thread, nil, { _ in
    _ = work(4)
    say("blocked \(blocked(SIGSEGV)) \(blocked(SIGILL)) \(blocked(SIGTERM))")
    crash()
    return nil
  }, nil)
  pthread_join(thread, nil)
case "blocked-owner":
  // The kernel does not ask a handler of what is blocked.
  own(SIGSEGV, chains: false)
  var set = sigset_t()
  sigfillset(&set)
  sigprocmask(SIG_BLOCK, &set, nil)
  crash()
case "sent-owner":
  own(SIGSEGV, chains: false)
  var set = sigset_t()
  sigfillset(&set)
  sigprocmask(SIG_BLOCK, &set, nil)
  kill(getpid(), SIGSEGV)
  say("waits")
  sigprocmask(SIG_UNBLOCK, &set, nil)
case "sent":
  // What somebody sends to a thread that blocks it waits, and can be taken.
  var set = sigset_t(), waits = sigset_t(), taken: Int32 = 0
  sigemptyset(&set)
  sigaddset(&set, SIGSEGV)
  sigprocmask(SIG_BLOCK, &set, nil)
  kill(getpid(), SIGSEGV)
  sigpending(&waits)
  say("waits \(sigismember(&waits, SIGSEGV)) blocked \(blocked(SIGSEGV))")
  sigwait(&set, &taken)
  say("taken \(taken)")
  raise(SIGSEGV)
  say("goes on")
  sigprocmask(SIG_UNBLOCK, &set, nil)
case "ignored":
  signal(SIGSEGV, SIG_IGN)
  raise(SIGSEGV)
  say("ignored \(action(SIGSEGV) == 1)")
  crash()
case "default":
  signal(SIGSEGV, SIG_DFL)
  say("default \(action(SIGSEGV) == 0)")
  crash()
case "default-abort":
  signal(SIGABRT, SIG_DFL)
  abort()
case "restored":
  // As libraries do for the time of a call: what they found there is there again.
  let found = signal(SIGSEGV, SIG_IGN)
  signal(SIGSEGV, found)
  crash()
case "once":
  // As those of many libraries that report crashes: the next one ends the process.
  var once = sigaction()
  once.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND)) | Int32(SA_NODEFER)
  once.__sigaction_handler.sa_handler = { number in say("once \(number), then default \(action(number) == 0)") }
  sigaction(SIGSEGV, &once, nil)
  crash()
case "in-handler":
  var all = sigaction(), known = sigaction()
  sigfillset(&all.sa_mask)
  all.__sigaction_handler.sa_handler = { _ in
    say("handler, blocked \(blocked(SIGSEGV))")
    say("\(UnsafePointer<Int>(bitPattern: 8 &+ Int(getppid() & 0))!.pointee)")
  }
  sigaction(SIGUSR1, &all, nil)
  sigaction(SIGUSR1, nil, &known)
  say("its mask \(sigismember(&known.sa_mask, SIGSEGV))")
  raise(SIGUSR1)
case "fork":
  typealias Fork = @convention(c) () -> Int32
  let child = unsafeBitCast(dlsym(nil, "fork")!, to: Fork.self)()
  if child == 0 { crash() }
  var status: Int32 = 0
  waitpid(child, &status, 0)
  say("child ended by \(status & 0x7f)")
case "exec":
  var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("/bin/echo"), strdup("another program"), nil]
  execv("/bin/echo", &arguments)
case "altstack", "altstack-deep":
  let size = 64 << 10
  var stack = stack_t(ss_sp: malloc(size), ss_flags: 0, ss_size: size)
  sigaltstack(&stack, nil)
  _ = work(2)
  if how == "altstack-deep" { say("\(deep(work(1)))") }
  var now = stack_t()
  sigaltstack(nil, &now)
  say("own stack \(now.ss_sp == stack.ss_sp)")
  crash()
case "terminate":
  // An exception of C++ that nobody catches.
  let boom = dlsym(dlopen("./boom.so", RTLD_NOW), "boom")
  unsafeBitCast(boom, to: (@convention(c) () -> Void).self)()
case "many":
  // Eight threads crash as good as at once.
  var threads: [pthread_t] = []
  for _ in 0..<8 {
    var thread = pthread_t()
    pthread_create(&thread, nil, { _ in
      _ = work(3)
      while waiting.wrappingAdd(1, ordering: .relaxed).newValue < 1 << 40, ready.load(ordering: .acquiring) == 0 {}
      crash()
      return nil
    }, nil)
    threads.append(thread)
  }
  while waiting.load(ordering: .relaxed) < 1000 {}
  ready.store(1, ordering: .releasing)
  for thread in threads { pthread_join(thread, nil) }
case "loader":
  // In a function that the loader calls under its lock.
  typealias Callback = @convention(c) (UnsafeMutableRawPointer?, Int, UnsafeMutableRawPointer?) -> Int32
  typealias Iterate = @convention(c) (Callback, UnsafeMutableRawPointer?) -> Int32
  _ = unsafeBitCast(dlsym(nil, "dl_iterate_phdr")!, to: Iterate.self)({ _, _, _ in crash(); return 0 }, nil)
case "heap":
  // The C library finds that its memory is damaged, and gives up with the lock of its memory held.
  let blocks = (0..<3).map { malloc(5000 + work($0) & 8) }
  for _ in 0..<2 { free(blocks[1]) }
case "calls":
  let count = Int(CommandLine.arguments[2])!
  var sum = 0
  for number in 0..<count { sum &+= work(number) }
  say("sum \(sum)")
case "raise": raise(SIGSEGV)
case "queued": kill(getpid(), SIGABRT)
case "overflow":
  let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: 8)
  memory[8 + work(0)] = 1
  say("\(memory[8 + work(0)])")
default: say("nothing")
}
say("end")
