import Foundation
public struct Cart { public var items: [String: Int] = [:]
  public mutating func add(_ name: String, price: Int, quantity: Int = 1) { items[name, default: 0] += price*quantity }
    public var total: Int { items.values.reduce(0, +) } }
enum Payment { case card(number: String), cash(Int); indirect case split([Payment]) }
func pay(_ p: Payment) throws -> Int? { switch p { case .card: return nil
  case .cash(let n): return n
  case .split(let all): return try all.compactMap { try pay($0) }.reduce(0, +) } }
