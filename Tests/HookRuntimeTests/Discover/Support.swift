import Glibc
import Testing

@testable import HookRuntime

/// Programs and libraries to read, and the tools whose word we take.
enum Toolchain {
  /// The directory that holds `swift`, with links resolved.
  static let binaries: String = {
    let path = shell("dirname $(readlink -f $(command -v swift))")
    return path.split(separator: "\n").first.map(String.init) ?? "/usr/bin"
  }()
  static var format: String { binaries + "/swift-format" }
  static func library(_ name: String) -> String { "\(binaries)/../lib/swift/linux/\(name).so" }

  static func has(_ tool: String) -> Bool { !shell("command -v \(tool)").isEmpty }

  /// (address, name) of all symbols whose name ends with `suffix`.
  static func symbols(of path: String, suffix: String) -> [(address: UInt64, name: String)] {
    var seen: Set<String> = []
    return shell("\(binaries)/llvm-nm \(path) 2>/dev/null | grep '\(suffix)$'").split(separator: "\n").compactMap { line in
      let columns = line.split(separator: " ")
      guard columns.count == 3, columns[2].hasPrefix("$s"), let address = UInt64(columns[0], radix: 16), seen.insert(String(line)).inserted
      else { return nil }
      return (address, String(columns[2]))
    }
  }

  /// The demangled form of each name.
  static func demangle(_ names: [String]) -> [String] {
    let input = TemporaryDirectory()
    input.write("names", Array(names.joined(separator: "\n").utf8))
    return shell("\(binaries)/swift-demangle --compact < \(input.path)/names").split(separator: "\n").map(String.init)
  }
}

/// Standard output of a shell command.
@discardableResult
func shell(_ command: String) -> String {
  guard let pipe = popen(command, "r") else { return "" }
  var output: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 1 << 16)
  while true {
    let count = fread(&buffer, 1, buffer.count, pipe)
    if count == 0 { break }
    output += buffer[..<count]
  }
  pclose(pipe)
  return String(decoding: output, as: UTF8.self)
}

/// A directory that goes when the object goes.
final class TemporaryDirectory: Sendable {
  let path: String

  init() {
    var template = Array("/tmp/discover-XXXXXX".utf8CString)
    path = mkdtemp(&template).map { String(cString: $0) } ?? "/tmp"
  }

  deinit { shell("rm -rf \(path)") }

  @discardableResult
  func write(_ name: String, _ bytes: [UInt8], mode: mode_t = 0o644) -> String {
    let file = path + "/" + name
    let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC, mode)
    var done = 0
    bytes.withUnsafeBytes { bytes in
      while done < bytes.count {
        let count = Glibc.write(descriptor, bytes.baseAddress! + done, bytes.count - done)
        if count <= 0 { break }
        done += count
      }
    }
    close(descriptor)
    return file
  }

  func read(_ name: String) -> [UInt8] {
    let descriptor = open(path + "/" + name, O_RDONLY)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    var status = stat()
    fstat(descriptor, &status)
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    let count = Glibc.read(descriptor, &bytes, bytes.count)
    return Array(bytes[..<max(0, count)])
  }
}

/// A library with one of everything, compiled once.
enum Shop {
  static let directory = TemporaryDirectory()
  static let path: String = {
    directory.write("Cart.swift", Array(cart.utf8))
    directory.write("Tree.swift", Array(tree.utf8))
    let folder = directory.path
    shell(
      """
      cd \(folder) && swiftc -O -g -parse-as-library -module-name Shop -Xlinker --build-id -emit-library Cart.swift Tree.swift -o libShop.so >log 2>&1
      """)
    return folder + "/libShop.so"
  }()

  static let cart = """
    open class Cart {
      public var title = "x"
      public private(set) var lines: [Line] = []
      public init(title: String) { self.title = title }
      open func add(_ name: String, price: Double, quantity: Int) { lines.append(Line(name: name, price: price)) }
      open func total() async throws -> Double { lines.reduce(0) { $0 + $1.price } }
      open class func make() -> Cart { Cart(title: "") }
      open subscript(i: Int) -> Line { get { lines[i] } set { lines[i] = newValue } }
      public struct Line: Hashable { var name: String; let price: Double }
      fileprivate enum Secret: Error { case one(Int), two, three(String) }
    }
    open class SubCart<T: Hashable, each U>: Cart { var u: T?; open func more(_ t: T) {} }
    open class Odd<let n: Int, T: ~Copyable>: Cart { open func odd() {} }
    public struct Box<T: ~Copyable>: ~Copyable { var t: T }
    extension Box: Copyable where T: Copyable {}
    public protocol P: AnyObject { func f(); var x: Int { get } }
    public protocol Q { associatedtype A; func q() -> A }
    extension Cart: P { public func f() { print(Secret.one(1), Secret.two, Secret.three("")) }; public var x: Int { 3 } }
    """

  static let tree = """
    extension Array where Element == Cart.Line { public struct Pair { var a: Element } }
    public indirect enum Tree { case leaf, node(Tree, Tree) }
    public actor Act { var n = 0; public func inc() { n += 1 } }
    private struct Hidden { var h: Int }
    @inline(__always) func twice(_ x: Int) -> Int { var y = x; for i in 0..<x { y ^= i &* x }; return y }
    @inline(never) public func a(_ x: Int) -> Int { twice(x) &+ twice(x &+ 1) }
    @inline(never) public func b(_ x: Int) -> Any { Hidden(h: twice(x)) }
    """
}

/// Numbers from a seed, the same on every run.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed | 1 }

  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state
  }
}

/// SCRIPTHOST_SEED, or a new one; printed so that a failure can be repeated.
func makeSeed(_ test: String) -> UInt64 {
  let seed = getenv("SCRIPTHOST_SEED").flatMap { UInt64(String(cString: $0)) } ?? .random(in: 1 ... .max)
  print("\(test): SCRIPTHOST_SEED=\(seed)")
  return seed
}

/// Milliseconds `body` took.
func milliseconds(_ body: () throws -> Void) rethrows -> Double {
  let duration = try ContinuousClock().measure(body)
  return Double(duration.components.attoseconds) / 1e15 + Double(duration.components.seconds) * 1e3
}
