// fuzz-cases TARGET ARGUMENTS…: libFuzzer on one of FuzzTargets, with libFuzzer's own arguments. Built by scripts/fuzz.
import Glibc

#if FUZZING
  @_silgen_name("LLVMFuzzerRunDriver")
  func runDriver(
    _ count: UnsafeMutablePointer<Int32>, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ body: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
  ) -> Int32

  // The library's own main, which is linked in beside ours, asks for it; nothing calls it.
  @_cdecl("LLVMFuzzerTestOneInput")
  public func unused(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 { 0 }

  // Set before the first input, never again.
  nonisolated(unsafe) var target = ""
  guard CommandLine.argc > 1, FuzzTargets.names.contains(CommandLine.arguments[1]) else {
    print("usage: fuzz-cases TARGET ARGUMENTS…; targets are \(FuzzTargets.names.joined(separator: ", "))")
    exit(2)
  }
  target = CommandLine.arguments[1]
  // libFuzzer may look at its arguments as long as the process lasts.
  let words = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: Int(CommandLine.argc))
  words[0] = CommandLine.unsafeArgv[0]
  for place in 2..<max(2, Int(CommandLine.argc)) { words[place - 1] = CommandLine.unsafeArgv[place] }
  words[Int(CommandLine.argc) - 1] = nil
  var count = CommandLine.argc - 1
  var list: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = words
  exit(
    runDriver(&count, &list) { bytes, count in
      FuzzTargets.run(target, Array(UnsafeBufferPointer(start: bytes, count: count)))
      return 0
    })
#else
  print("fuzz-cases is built by scripts/fuzz")
  exit(2)
#endif
