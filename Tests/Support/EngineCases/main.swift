// engine-cases — the hook engine's rules (docs/hooks.md) on real calls of this process.
//
//   engine-cases --model HOOKS [--seed N] [--runs N]   random hooks against the model
//   engine-cases --stress SECONDS [--seed N] [LIBRARY.so…]   four threads that call and change hooks
//   engine-cases --cycles N | --objects N | --crowd N   memory and time of many hooks, one after the other or at once
//   engine-cases --no-memory        a layer for which there is no memory; Tests/Programs/scopes/calloc.c is the allocator
//   engine-cases --left             calls that are left by longjmp, with Tests/Programs/scopes/leave.c
//   engine-cases --second-copy      tries to hook where another copy of the library hooks already
//   engine-cases [NAME…]            the cases whose names contain a word; exit status 0 when all hold
//
// One program for both optimisation levels: Tests/Programs/scopes runs the debug and the release build.
import Checks
import EngineSubjects
import Glibc
import HookRuntime

if CommandLine.arguments.contains("--second-copy") { exit(secondCopy()) }
if CommandLine.arguments.contains("--no-memory") { exit(withoutMemory()) }
if CommandLine.arguments.contains("--left") { exit(leftWithoutReturning()) }

/// The number behind an option.
func option(_ name: String) -> Int? {
  let all = CommandLine.arguments
  guard let index = all.firstIndex(of: name) else { return nil }
  let value = index + 1 < all.count ? all[index + 1] : ""
  if let number = Int(value), number >= 0 { return number }
  print("engine-cases: '\(name)' takes a number, found '\(value)'")
  exit(2)
}

if let hooks = option("--model") {
  let seed = UInt64(option("--seed") ?? Int(getpid()))
  let runs = option("--runs") ?? 1
  for run in 0..<UInt64(runs) {
    var test = ModelTest(seed: seed + run)
    if let problem = test.run(hooks: hooks) {
      print(problem)
      exit(1)
    }
    print("seed \(seed + run): \(hooks) hooks, \(test.calls) calls, \(test.handled) handlers ran as the model says")
  }
  exit(0)
}

if let seconds = option("--stress") {
  let libraries = CommandLine.arguments.filter { $0.hasSuffix(".so") }
  exit(Stress.run(seconds: seconds, seed: UInt64(option("--seed") ?? Int(getpid())), libraries: libraries))
}
if let count = option("--cycles") { exit(try Soak.cycles(count)) }
if let count = option("--objects") { exit(try Soak.objects(count)) }
if let count = option("--crowd") { exit(try Soak.crowd(count)) }

let wanted = Array(CommandLine.arguments.dropFirst())
runCases(scopeCases + orderCases + countCases + transactionCases + processCases, named: wanted) { _ = Log.take() }
