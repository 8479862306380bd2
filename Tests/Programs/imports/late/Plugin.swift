// A library that the program opens while it runs.
import Base
import Glibc

public final class Formal: Greeter {
  @inline(never) public override func greet(_ name: String) -> String { "good day, \(name)" }
}

public struct Settings {
  public var volume: Int
  @inline(never) public mutating func louder(by step: Int) { volume += step }
}

@inline(never) func decorate(_ text: String) -> String { "*" + text + "*" }

@_cdecl("plugin_run") public func run() -> Int32 {
  let greeter: Greeter = Formal()
  print("plugin:", decorate(greeter.greet("Ada")))
  var settings = Settings(volume: 3)
  settings.louder(by: 4)
  print("plugin: volume", settings.volume, "pick", pick("left", "right", first: false), pick(1, 2, first: true))
  let handle = open("/dev/null", O_RDONLY)
  close(handle)
  return Int32(settings.volume)
}
