import Extended
import Glibc

func attempt(_ body: () throws -> Float80) { do { print(try body()) } catch { print("threw", error) } }
print(one(1), exact(1), pair(3), mixed(4), two(5))
for n in [1, -1] {
  attempt { try fails(n) }
  attempt { try typed(n) }
}
// The x87 stack is as deep as it was: eight more values fit.
let a = one(2), b = one(3)
print(takes(1.5, 2), a * (b + (a * (b + (a * (b + (a * (b + one(4)))))))))
print(united(sigval(sival_int: 5), 6))
