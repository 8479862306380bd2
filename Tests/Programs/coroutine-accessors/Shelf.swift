// Accessors that yield borrowed values for the time of an access.

public struct Mix {
  public var whole: Int, part: Double, rest: Float
  public init(_ whole: Int, _ part: Double, _ rest: Float) { (self.whole, self.part, self.rest) = (whole, part, rest) }
}
public struct Wide { public var a = 1, b = 2, c = 3, d = 4, e = 5 }

public class Shelf {
  var storedTitle = "books"
  var storedMix = Mix(1, 2.5, 0.25)
  var storedWide = Wide()
  var storedPair = (7, "seven")
  var storedAny: Any = 12
  var names = ["a", "b"]
  public var count = 40
  public init() {}
  public var title: String { @inline(never) _read { yield storedTitle } @inline(never) _modify { yield &storedTitle } }
  public var mix: Mix { @inline(never) _read { yield storedMix } @inline(never) _modify { yield &storedMix } }
  public var wide: Wide { @inline(never) _read { yield storedWide } @inline(never) _modify { yield &storedWide } }
  public var pair: (Int, String) { @inline(never) _read { yield storedPair } @inline(never) _modify { yield &storedPair } }
  public var any: Any { @inline(never) _read { yield storedAny } @inline(never) _modify { yield &storedAny } }
  public subscript(index: Int) -> String { @inline(never) _read { yield names[index] } @inline(never) _modify { yield &names[index] } }
}

public struct Box<Content> {
  var content: Content
  public init(_ content: Content) { self.content = content }
  public var inside: Content { @inline(never) _read { yield content } @inline(never) _modify { yield &content } }
}

public struct Basket {
  var kept: [Int] = []
  public init() {}
  public var items: [Int] { @inline(never) _read { yield kept } @inline(never) _modify { yield &kept } }
}
