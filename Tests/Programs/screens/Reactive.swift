// The delegate proxies of a reactive library: each takes the slot, keeps the delegate that was there and hands calls on to it. It insists
// on being what it put there, and sets the slot again inside of it.
import Toolkit

public final class ListProxy: ListDelegate {
  private unowned let list: ListView
  private weak var forward: (any ListDelegate)?
  public private(set) var selected: [Int] = []

  private init(_ list: ListView) { self.list = list }

  nonisolated(unsafe) private static var all: [ObjectIdentifier: ListProxy] = [:]

  /// The one of the list, which takes the slot.
  public static func of(_ list: ListView) -> ListProxy {
    let proxy = all[ObjectIdentifier(list)] ?? ListProxy(list)
    all[ObjectIdentifier(list)] = proxy
    let present = list.delegate
    if present !== proxy {
      proxy.forward = present
      list.delegate = proxy
      // What such libraries assert, and where they crash when somebody else took the slot.
      precondition(list.delegate === proxy, "the delegate was changed behind the proxy")
      precondition(proxy.forward !== proxy, "the proxy would hand calls to itself")
    }
    return proxy
  }

  public func setForward(_ delegate: (any ListDelegate)?) {
    list.delegate = nil
    forward = delegate
    list.delegate = self
    precondition(list.delegate === self, "the delegate was changed behind the proxy")
  }

  public func list(_ list: ListView, didSelectRowAt path: IndexPath) {
    selected.append(path.row)
    forward?.list(list, didSelectRowAt: path)
  }
}
