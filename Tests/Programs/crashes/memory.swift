// Takes memory until there is none: as its argument says, by an array, by objects, or by a class whose instances are large.
import Glibc

final class Link { var next: Link?; var bytes = (0, 0, 0, 0, 0, 0, 0, 0); init(_ next: Link?) { self.next = next } }

@inline(never) public func take(_ how: String) -> Int {
  var limit = rlimit(rlim_cur: 0, rlim_max: rlim_t.max)
  switch how {
  case "array":
    var all: [Int] = []
    while true { all.append(contentsOf: repeatElement(all.count, count: 1 << 20)) }
  case "object":
    var first: Link?
    while true { first = Link(first) }
  case "class":
    var all: [[UInt8]] = []
    while true { all.append([UInt8](repeating: 1, count: 4000)) }
  default:
    getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
    return Int(truncatingIfNeeded: limit.rlim_cur)
  }
}

for _ in 0..<3 { _ = take("nothing") }
// So much more than it has now.
var pages = 0
if let file = fopen("/proc/self/statm", "r") {
  var text = [CChar](repeating: 0, count: 64)
  fgets(&text, 64, file)
  pages = atol(text)
  fclose(file)
}
var limit = rlimit(rlim_cur: rlim_t(pages * 4096 + (64 << 20)), rlim_max: rlim_t(pages * 4096 + (64 << 20)))
setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
print(take(CommandLine.arguments[1]))
