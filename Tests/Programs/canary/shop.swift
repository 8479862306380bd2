import Glibc

/// Notes in a file that it ran, and lives until its input ends where it is told to.
open class Till {
  public init() {}
  @inline(never) open func price(_ n: Int) -> Int { n * 2 }
}
@inline(never) public func giveUp() { abort() }
@inline(never) public func sleepForEver() { while true { sleep(1) } }
@inline(never) public func leave() { exit(3) }

let journal = fopen(CommandLine.arguments[1], "a")!
fputs("main\n", journal)
fclose(journal)
let till = Till()
print("price", till.price(21))
if CommandLine.arguments.count > 2 {
  fflush(stdout)
  while let line = readLine() {
    print("price", till.price(Int(line) ?? 0))
    fflush(stdout)
  }
}
