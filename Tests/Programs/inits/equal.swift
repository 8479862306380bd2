// Unrelated classes whose initialisers and setters have equal code.
final class Apple { var n: Int; @inline(never) init(n: Int) { self.n = n } }
final class Pear { var n: Int; @inline(never) init(n: Int) { self.n = n } }
class Base { var n: Int; @inline(never) init(n: Int) { self.n = n } }
class Other { var n: Int; @inline(never) init(n: Int) { self.n = n } }
final class Sub: Base { @inline(never) override init(n: Int) { super.init(n: n) } }
final class Sub2: Other { @inline(never) override init(n: Int) { super.init(n: n) } }
final class Left { var n = 0; var p: Int { get { n } @inline(never) set { n = newValue &* 3 } } }
final class Right { var n = 0; var p: Int { get { n } @inline(never) set { n = newValue &* 3 } } }
nonisolated(unsafe) var sum = 0
@main struct Main {
  static func main() {
    for i in 0..<3 { sum += Apple(n: i).n }
    for i in 0..<3 { sum += Pear(n: i).n }
    for i in 0..<5 { sum += Sub(n: i).n }
    for i in 0..<5 { sum += Sub2(n: i).n }
    let left = Left(), right = Right()
    for i in 0..<4 { left.p = i }
    for i in 0..<2 { right.p = i }
    print(sum, left.n, right.n)
  }
}
