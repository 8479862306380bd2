// A program that shows how it was started, for the tests of the preload stub.
import Glibc

func constructed() -> String {
  typealias Function = @convention(c) () -> UnsafePointer<CChar>
  guard let symbol = dlsym(nil, "probe_constructor_saw") else { return "no constructor" }
  return String(cString: unsafeBitCast(symbol, to: Function.self)())
}

switch CommandLine.arguments.dropFirst().first {
case "environment":
  var slot = environ
  while let text = slot.pointee {
    print(String(cString: text))
    slot += 1
  }
case "constructor": print(constructed())
case "arguments": for argument in CommandLine.arguments { print(argument) }
case "signals":
  var mask = sigset_t()
  sigprocmask(SIG_SETMASK, nil, &mask)
  for signal in 1...64 {
    var action = sigaction()
    sigaction(Int32(signal), nil, &action)
    let handler = unsafeBitCast(action.__sigaction_handler, to: Int.self)
    // The Swift runtime's own crash handlers stand at addresses that differ from run to run.
    print(signal, sigismember(&mask, Int32(signal)), handler > 1 ? 2 : handler)
  }
  print("errno", errno)
case "descriptors":
  for number in 0..<256 where fcntl(Int32(number), F_GETFD) >= 0 { print(number) }
case "libraries":
  let maps = fopen("/proc/self/maps", "r")!
  var line = [CChar](repeating: 0, count: 8192)
  while fgets(&line, 8192, maps) != nil {
    let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    if let slash = text.firstIndex(of: "/"), text.contains(".so") { print(text[slash...], terminator: "") }
  }
case "exit": exit(Int32(CommandLine.arguments[2])!)
case "trap": fatalError("asked to")
case "wait":
  print("ready")
  fflush(stdout)
  while true { pause() }
case "pid": print(getpid())
case "child":
  var process: pid_t = 0
  let path = strdup(CommandLine.arguments[2])
  let mode = strdup(CommandLine.arguments[3])
  posix_spawn(&process, path!, nil, nil, [path, mode, nil], environ)
  var status: Int32 = 0
  waitpid(process, &status, 0)
default: print("hello")
}
