// What the cases of misuse are made of.

public final class Ticket {
  public let number: Int
  public init(_ number: Int) { self.number = number }
}

/// Answers with what nothing can be made of.
public protocol TicketOffice: AnyObject {
  func ticket(_ number: Int) -> Ticket
}

public final class FirstOffice: TicketOffice {
  public init() {}
  @inline(never) public func ticket(_ number: Int) -> Ticket { Ticket(number) }
}

public final class SecondOffice: TicketOffice {
  public init() {}
  @inline(never) public func ticket(_ number: Int) -> Ticket { Ticket(-number) }
}

@inline(never) public func buy(_ number: Int, at office: any TicketOffice) -> Int { office.ticket(number).number }
