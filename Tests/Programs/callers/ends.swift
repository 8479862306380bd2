// Functions that never return, and callers that were compiled with that.
import Glibc

enum Failure: Error { case number(Int) }

@inline(never) func stop(_ n: Int) -> Never {
  print("stop", n)
  exit(3)
}

@inline(never) func fail(_ n: Int) throws -> Never { throw Failure.number(n) }

@inline(never) func die(_ n: Int) { stop(n) }

@inline(never) func choose(_ n: Int) -> Int {
  // A table of jumps: the code does not say that it never returns.
  switch n {
  case 1: print("one"); exit(11)
  case 2: print("two", n, n); exit(12)
  case 3: print("three", n * 3); exit(13)
  case 4: print("four"); exit(14)
  case 5: print("five", n - 3); exit(15)
  case 6: print("six"); exit(16)
  case 7: print("seven", "of", n); exit(17)
  default: print("choose", n); exit(5)
  }
}

@inline(never) func callsDie(_ n: Int) { die(n) }
@inline(never) func callsChoose(_ n: Int) -> Int { print("choose gave", choose(n)); return n }

do { try fail(1) } catch { print("caught", error) }
switch CommandLine.arguments[1] {
case "stop": stop(900)
case "die": callsDie(900)
default: print(callsChoose(900))
}
print("the end")
