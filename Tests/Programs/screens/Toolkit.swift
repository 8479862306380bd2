// A toolkit with the shapes of the widespread one: views, controllers, controls, lists with delegates, gesture recognisers. It is a
// library of its own and knows nothing of who watches.

public struct Point { public var x, y: Double; public init(x: Double, y: Double) { (self.x, self.y) = (x, y) } }
public struct Size { public var width, height: Double; public init(width: Double, height: Double) { (self.width, self.height) = (width, height) } }
public struct Rect {
  public var origin: Point, size: Size
  public init(_ x: Double, _ y: Double, _ width: Double, _ height: Double) {
    origin = Point(x: x, y: y)
    size = Size(width: width, height: height)
  }
}

open class Responder { public init() {} }

open class View: Responder {
  public var frame: Rect
  public private(set) var subviews: [View] = []
  public private(set) weak var superview: View?
  public init(frame: Rect) {
    self.frame = frame
    super.init()
  }
  public var isHidden = false
  /// Where its own coordinates begin: what scrolls changes it.
  public var bounds: Rect { Rect(offset.x, offset.y, frame.size.width, frame.size.height) }
  public var offset = Point(x: 0, y: 0)
  open func addSubview(_ view: View) {
    subviews.append(view)
    view.superview = self
    view.layout()
  }
  /// Its place may have changed.
  open func layout() { for view in subviews { view.layout() } }
  deinit { gestures = [] }
  public var gestures: [GestureRecognizer] = []
}

/// Shows a part of what is in it.
open class ScrollView: View {
  public func scroll(to y: Double) {
    offset.y = y
    layout()
  }
}

/// A touch of its own, beside those of controls.
open class GestureRecognizer: Responder {
  public private(set) weak var view: View?
  public let action: String
  private let run: (GestureRecognizer) -> Void
  public init(_ view: View, action: String, _ run: @escaping (GestureRecognizer) -> Void) {
    self.view = view
    self.action = action
    self.run = run
    super.init()
    view.gestures.append(self)
  }
  open func recognize() { run(self) }
}
public final class TapRecognizer: GestureRecognizer {}

open class ViewController: Responder {
  open var title: String?
  public private(set) var children: [ViewController] = []
  public var appearances = 0
  public init(title: String?) {
    self.title = title
    super.init()
  }
  open func loadView() {}
  open func viewDidLoad() {}
  open func viewDidAppear(_ animated: Bool) { appearances += 1 }
  open func viewDidDisappear(_ animated: Bool) { appearances -= 1 }
  public func addChild(_ child: ViewController) { children.append(child) }
}

/// Shows and hides, as the system does: a container's children come after it and go before it.
public final class Window {
  private var shown: [ViewController] = []
  public init() {}
  public func show(_ controller: ViewController) {
    controller.loadView()
    controller.viewDidLoad()
    controller.viewDidAppear(true)
    shown.append(controller)
    for child in controller.children { child.viewDidAppear(false) }
  }
  public func hide(_ controller: ViewController) {
    for child in controller.children { child.viewDidDisappear(false) }
    controller.viewDidDisappear(true)
    shown.removeAll { $0 === controller }
  }
}

public struct Event: Sendable { public let number: Int; public init(_ number: Int) { self.number = number } }

open class Control: View {
  private var targets: [(action: String?, target: AnyObject?, run: (Control) -> Void)] = []
  public func addTarget(_ target: AnyObject?, action: String?, _ run: @escaping (Control) -> Void) { targets.append((action, target, run)) }
  open func sendAction(_ action: String?, to target: AnyObject?, for event: Event) {
    for each in targets where each.action == action { each.run(self) }
  }
  /// What a tap does.
  public func touch(_ event: Event) {
    for gesture in gestures { gesture.recognize() }
    if targets.isEmpty { return sendAction(nil, to: nil, for: event) }
    for each in targets { sendAction(each.action, to: each.target, for: event) }
  }
}
open class Button: Control {}
open class Switch: Control {
  public var isOn = false
  open override func sendAction(_ action: String?, to target: AnyObject?, for event: Event) {
    isOn.toggle()
    super.sendAction(action, to: target, for: event)
  }
}

public struct IndexPath: Sendable { public let section, row: Int; public init(_ section: Int, _ row: Int) { (self.section, self.row) = (section, row) } }

public protocol ListDelegate: AnyObject {
  func list(_ list: ListView, didSelectRowAt path: IndexPath)
  func list(_ list: ListView, willDisplayRowAt path: IndexPath)
}
extension ListDelegate { public func list(_ list: ListView, willDisplayRowAt path: IndexPath) {} }

open class ListView: View {
  open weak var delegate: (any ListDelegate)?
  public func select(_ row: Int) { delegate?.list(self, didSelectRowAt: IndexPath(0, row)) }
  public func display(_ row: Int) { delegate?.list(self, willDisplayRowAt: IndexPath(0, row)) }
}

public protocol GridDelegate: AnyObject { func grid(_ grid: GridView, didSelectItemAt path: IndexPath) }

/// A list whose slot is unowned: what is gone must never be called.
open class GridView: View {
  open unowned var delegate: any GridDelegate
  public init(frame: Rect, delegate: any GridDelegate) {
    self.delegate = delegate
    super.init(frame: frame)
  }
  public func select(_ item: Int) { delegate.grid(self, didSelectItemAt: IndexPath(0, item)) }
}

/// Work in a task.
open class Job {
  public init() {}
  open func run(_ name: String) async -> Int { 0 }
}

public protocol Handler: AnyObject { func handle(_ request: String) throws -> Int }
public struct BadRequest: Error { public init() {} }

/// Hands requests on, whoever handles them.
public final class Router {
  private var handlers: [String: any Handler] = [:]
  public init() {}
  public func add(_ path: String, _ handler: any Handler) { handlers[path] = handler }
  public func handle(_ path: String) -> Int { (try? handlers[path]?.handle(path)) ?? 500 }
}
