// A program whose types patches are checked against. When it runs, it makes the file that SHOP_RAN names.
import Glibc

public struct Line { public var name: String; public var price: Double; public var quantity: Int }

public final class User { public var email: String; public init(_ email: String) { self.email = email } }

public protocol CartDelegate: AnyObject { func cartDidChange(_ cart: Cart) }

public class Base {
  public var created = 1
  @inline(never) public func touch() { created += 1 }
}

public class Cart: Base {
  public var title: String
  public var lines: [Line] = []
  public var user: User?
  public weak var delegate: (any CartDelegate)?
  @inline(never) public init(title: String) { self.title = title }
  @inline(never) public func add(_ name: String, price: Double, quantity: Int) {
    lines.append(Line(name: name, price: price, quantity: quantity))
    delegate?.cartDidChange(self)
  }
  @inline(never) public func total(tax: Double) -> Double { lines.reduce(0) { $0 + $1.price * Double($1.quantity) } * (1 + tax) }
  @inline(never) public func find(_ name: String) -> Line? { lines.first { $0.name == name } }
  @inline(never) public func find(_ index: Int) -> Line? { lines.indices.contains(index) ? lines[index] : nil }
  public var count: Int { @inline(never) get { lines.count } }
  @inline(never) public static func make() -> Cart { Cart(title: "new") }
}

public enum Trouble: Error { case noTea }
@inline(never) public func brew(_ cups: Int) throws(Trouble) -> Int {
  if cups > 100 { throw .noTea }
  return cups * 2
}

@inline(never) public func discount(for total: Double) -> Double { total * 0.9 }

@main enum Shop {
  static func main() {
    if let path = getenv("SHOP_RAN"), let file = fopen(path, "w") { fclose(file) }
    let cart = Cart.make()
    cart.user = User("a@b.c")
    cart.add("tea", price: 2, quantity: CommandLine.arguments.count)
    cart.touch()
    print((try? brew(CommandLine.arguments.count)) as Any)
    print(cart.total(tax: 0.2), discount(for: 3), cart.count, cart.find("tea") as Any, cart.find(0) as Any)
  }
}
