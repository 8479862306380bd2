// engine-bench — what only the package's own modules can measure: native layers, back ends and scopes, installing, the
// symbol index.
// Prints samples, one per line: `S`, name, value, by tabs. Run by Benchmarks/Sources/bench.
import Glibc
import Sampling

let arguments = Array(CommandLine.arguments.dropFirst())
switch arguments.first {
case "calls":
  for var bench in [Layers.bench(), Closures.bench()] { bench.run(Int(arguments[1])!) }
case "loop":
  let isKnown =
    [Layers.bench(), Closures.bench()].contains { $0.run(only: arguments[1], rounds: Int(arguments[2])!) }
    || Ways.run(only: arguments[1], rounds: Int(arguments[2])!)
  if !isKnown { fatalError("there is no '\(arguments[1])'") }
case "ways": Ways.measure(repetitions: Int(arguments[1])!)
case "install": Installs.measure(library: arguments[1], count: Int(arguments[2])!)
case "index": Index.measure(file: arguments[1], directory: arguments[2], selector: arguments[3])
default:
  print(
    "usage: engine-bench calls REPETITIONS | loop NAME ROUNDS | ways REPETITIONS | install LIBRARY COUNT | index FILE DIRECTORY SELECTOR")
  exit(2)
}
