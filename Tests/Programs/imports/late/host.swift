// A program that opens libraries: once bound at their first calls, once at load.
import Base
import Glibc

@inline(never) func load(_ name: String, _ function: String, _ flags: Int32) -> (UnsafeMutableRawPointer?, Int32) {
  guard let library = dlopen(name, flags), let symbol = dlsym(library, function) else {
    print("cannot open", name, String(cString: dlerror()))
    return (nil, -2)
  }
  let run = unsafeBitCast(symbol, to: (@convention(c) () -> Int32).self)
  return (library, run())
}

/// Many threads open a library each, and call it at once.
final class Tally: @unchecked Sendable {
  private var lock = pthread_mutex_t()
  private var answers: [Int32: Int] = [:]
  func count(_ answer: Int32) {
    pthread_mutex_lock(&lock)
    answers[answer, default: 0] += 1
    pthread_mutex_unlock(&lock)
  }
  var text: String { answers.keys.sorted().map { "\($0): \(answers[$0]!)" }.joined(separator: ", ") }
}

func crowd(_ count: Int) {
  let tally = Tally()
  var threads: [pthread_t] = []
  for index in 0..<count {
    let box = Unmanaged.passRetained(Job(index, tally)).toOpaque()
    var thread = pthread_t()
    pthread_create(&thread, nil, { box in
      let job = Unmanaged<Job>.fromOpaque(box!).takeRetainedValue()
      job.tally.count(load("libcplugin\(job.index).so", "cplugin_run", job.index % 2 == 0 ? RTLD_LAZY : RTLD_NOW).1)
      return nil
    }, box)
    threads.append(thread)
  }
  for thread in threads { pthread_join(thread, nil) }
  print("host: answers", tally.text)
}
final class Job {
  let index: Int
  let tally: Tally
  init(_ index: Int, _ tally: Tally) {
    self.index = index
    self.tally = tally
  }
}

if CommandLine.arguments.count > 1 {
  crowd(Int(CommandLine.arguments[1])!)
  exit(0)
}
print("host:", Greeter().greet("Bob"), pick(1.5, 2.5, first: true))
print("host: plugin", load("libPlugin.so", "plugin_run", RTLD_LAZY).1)
for flags in [RTLD_LAZY, RTLD_NOW, RTLD_LAZY] {
  let (library, answer) = load("libcplugin.so", "cplugin_run", flags)
  print("host: cplugin", answer, dlclose(library!))
}
if dlopen("libnowhere.so", RTLD_LAZY) == nil { print("host:", String(cString: dlerror())) }
print("host: no error left", dlerror() == nil)
