// What the observation cases observe.

public struct Address: Equatable {
  public var city: String
  public var zip: Int
  public init(city: String, zip: Int) { (self.city, self.zip) = (city, zip) }
}

open class Account {
  open var owner: String
  open var history: [String] = []
  open var limit = 10 {
    didSet {
      Trace.text += "didSet(\(oldValue)) "
      if limit > 100 { limit = 100 }
    }
  }
  /// Stored elsewhere.
  open var twice: Int {
    get { cents * 2 }
    set { cents = newValue / 2 }
  }
  open var address: Address?
  open weak var partner: Account?
  open var child: Account?
  public let number = 7
  public var cents = 0
  public init(owner: String) { self.owner = owner }

  open class var rate: Int {
    get { rateNow }
    set { rateNow = newValue }
  }
  private nonisolated(unsafe) static var rateNow = 1  // the cases run on one thread
}

open class Savings: Account {
  open override var owner: String {
    get { super.owner }
    set { super.owner = newValue + "!" }
  }
}

// Writes of the module itself.
@inline(never) public func rename(_ account: Account, _ name: String) { account.owner = name }
@inline(never) public func note(_ account: Account, _ text: String) { account.history.append(text) }
@inline(never) public func double(_ account: Account) { account.twice *= 2 }
@inline(never) public func move(_ account: Account, to city: String) { account.address?.city = city }
