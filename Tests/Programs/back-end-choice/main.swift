// Calls that stay virtual, or through the protocol.
import Kit
import Twins

@_optimize(none) @inline(never) func hidden<T>(_ value: T) -> T { value }

let (plain, subclass, other) = (Plain(), Heir(), Plain())
var plains = [plain, subclass, other]
keep(other)
for (name, each) in zip(["plain", "subclass", "other"], hidden(plains)) {
  print("quiet", name)
  hidden(each).quiet()
}
print("rest")
hidden(Calm() as any Rests).rest()
print("shifts", shifts())
let (left, right) = (hidden(Left()), hidden(Right()))
print("turn left")
left.turn(1)
print("turn right")
right.turn(1)

/// For a hook on one object: the patch is told of it here.
@inline(never) func keep(_ plain: Plain) { print("kept", hidden(plain) === plain) }
