// engine-bench — what only the package's own modules can measure: native layers, installing, the symbol index.
// Prints samples, one per line: `S`, name, value, by tabs. Run by Benchmarks/Sources/bench.
import CHookTrampoline
import Glibc
import HookRuntime

let arguments = Array(CommandLine.arguments.dropFirst())
switch arguments.first {
case "calls":
  Layers.measure(repetitions: Int(arguments[1])!)
  Closures.measure(repetitions: Int(arguments[1])!)
case "install": Installs.measure(library: arguments[1], count: Int(arguments[2])!)
case "index": Index.measure(file: arguments[1], directory: arguments[2], selector: arguments[3])
default:
  print("usage: engine-bench calls REPETITIONS | install LIBRARY COUNT | index FILE DIRECTORY SELECTOR")
  exit(2)
}

/// Nanoseconds.
func now() -> Double { Double(hkt_now_ns()) }

/// Nanoseconds this thread has run: what other programs on a busy machine take is not ours.
func processorTime() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}

func sample(_ name: String, _ value: Double) { print("S", name, value, separator: "\t") }
