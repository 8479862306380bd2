// Waits for a line, calls a function that a patch hooks, and traps.
import Glibc

@inline(never) public func inner(_ n: Int) { print("inner \(n)") }
@inline(never) public func work(_ n: Int) -> Int {
  let tripled = n &* 3
  inner(tripled)
  return tripled
}

setvbuf(stdout, nil, _IOLBF, 0)
print("ready")
_ = readLine()
let none: [Int] = CommandLine.arguments.isEmpty ? [1] : []
print(none[work(7)])
