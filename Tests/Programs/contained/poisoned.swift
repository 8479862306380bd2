// So many traps as the argument says, below many frames whose variables the address sanitizer watches; then code that it does not watch uses the same stack.
import Glibc

struct Wide { var words: (Int, Int, Int, Int, Int, Int, Int, Int) = (1, 2, 3, 4, 5, 6, 7, 8) }

@inline(never) func touch(_ pointer: UnsafeMutablePointer<Wide>) { pointer.pointee.words.3 &+= 1 }

/// Each frame has a variable with red zones around it; the innermost one traps.
@inline(never) func deeper(_ left: Int, _ list: [Int]) -> Int {
  var wide = Wide()
  touch(&wide)
  return left == 0 ? list[list.count + 1] : deeper(left - 1, list) &+ wide.words.3
}

@inline(never) public func descend(_ depth: Int, _ list: [Int]) -> Int { deeper(depth, list) }

/// Of below.cpp: looks at the stack where the frames of `deeper` were.
@_silgen_name("finds_poison") func findsPoison() -> Int32

var contained = 0, poisoned = 0
for _ in 0..<Int(CommandLine.arguments[1])! {
  if descend(200, [1, 2, 3]) == -1 { contained += 1 }
  poisoned += Int(findsPoison())
}
print("contained \(contained), poisoned \(poisoned)")
