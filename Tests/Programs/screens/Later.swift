// A library that is opened when the program runs.
import Toolkit

final class LateController: ViewController {
  override func viewDidAppear(_ animated: Bool) {
    super.viewDidAppear(animated)
    print("late")
  }
}

@_cdecl("makeLate") public func makeLate() -> UnsafeMutableRawPointer { Unmanaged.passRetained(LateController(title: "Late") as ViewController).toOpaque() }
