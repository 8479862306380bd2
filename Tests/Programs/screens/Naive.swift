// A tracker as many were made: it takes delegates at the setter, puts a proxy of its own into the slot, and knows none of the traps of it. The
// suite shows each trap with it first.
import Toolkit

/// What is got is not what was set: whoever compares the two fails.
public final class NaiveListView: ListView {
  private var proxy: NaiveProxy?
  public override var delegate: (any ListDelegate)? {
    get { super.delegate }
    set {
      proxy = newValue.map(NaiveProxy.init)
      super.delegate = proxy
    }
  }
}

final class NaiveProxy: ListDelegate {
  private weak var target: (any ListDelegate)?
  init(_ target: any ListDelegate) { self.target = target }
  func list(_ list: ListView, didSelectRowAt path: IndexPath) { target?.list(list, didSelectRowAt: path) }
}

/// Asks the getter for the delegate that is to be called, so as to have the newest, and gets itself.
public final class AskingListView: ListView {
  private let proxy = AskingProxy()
  public override var delegate: (any ListDelegate)? {
    get { super.delegate }
    set { super.delegate = newValue == nil ? nil : proxy }
  }
}

final class AskingProxy: ListDelegate {
  private var calls = 0
  func list(_ list: ListView, didSelectRowAt path: IndexPath) {
    list.delegate?.list(list, didSelectRowAt: path)
    calls += 1
  }
}

/// Has its proxy in the slot since the first set, and takes the second one for its own: what the proxy hands calls to is gone by then.
public final class OnceGridView: GridView {
  private var proxy: UnownedProxy?
  public override var delegate: any GridDelegate {
    get { super.delegate }
    set {
      if proxy != nil { return }
      let made = UnownedProxy(newValue)
      proxy = made
      super.delegate = made
    }
  }
}

final class UnownedProxy: GridDelegate {
  private unowned let target: any GridDelegate
  init(_ target: any GridDelegate) { self.target = target }
  func grid(_ grid: GridView, didSelectItemAt path: IndexPath) { target.grid(grid, didSelectItemAt: path) }
}
