// Arguments of every kind that scripts change as bits, beside one that they cannot.

public struct Pair { public var a: Int, b: String; public init(_ a: Int, _ b: String) { (self.a, self.b) = (a, b) } }

public enum Mix {
  @inline(never) public static func mix(
    _ a: Int, _ text: String, _ pair: Pair, _ d: Double, _ f: Float, _ flag: Bool, small: Int8, wide: UInt64
  ) -> Int {
    print("mix", a, "'\(text)'", pair.a, pair.b, d, f, flag, small, wide)
    return a
  }
}
