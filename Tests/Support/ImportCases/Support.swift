// What the cases share: the C library they open, layers written in place.
import CHookTrampoline
import Glibc
import HookRuntime

/// Where the test's libraries are.
let folder = CommandLine.arguments.count > 1 ? CommandLine.arguments[1] : "."

/// A copy of a C library, opened by this process.
struct CLibrary {
  let path: String
  let handle: UnsafeMutableRawPointer

  init(_ name: String, _ flags: Int32 = RTLD_LAZY) {
    path = "\(folder)/\(name)"
    guard let handle = dlopen(path, flags) else {
      print("cannot open \(path): \(String(cString: dlerror()))")
      exit(2)
    }
    self.handle = handle
  }

  /// `int name(void)`
  @discardableResult
  func call(_ name: String) -> Int32 {
    unsafeBitCast(dlsym(handle, name)!, to: (@convention(c) () -> Int32).self)()
  }
}

/// The requests for a C function.
func requests(_ selector: String) -> [HookRequest] {
  guard case .success(let found) = SelectorLookup.resolve(selector) else { return [] }
  return found.map { HookRequest(image: $0, family: $1) }
}

/// Installs a layer; nil and the reason when it is refused.
func hook(
  _ selector: String, safe: Bool = false, phases: UInt32 = UInt32(HKT_ON_ENTER), priority: Int = 0, context: UnsafeMutableRawPointer? = nil,
  _ function: @escaping HKTLayerFunction = { _, _, _ in HKT_HANDLED }
) -> (token: HookToken?, reason: String) {
  let report = HookEngine.shared.install(requests(selector)) { _ in
    var spec = LayerSpec(function: function, context: context, phases: phases, priority: priority, isHostWork: false, owner: "cases")
    spec.isSafeInAllocator = safe
    return spec
  }
  return (report.tokens.first?.token, report.refused.first.map { "\($0.reason)" } ?? "")
}

func calls(_ token: HookToken?) -> UInt64 { token.flatMap { HookEngine.shared.deliveredCalls($0) } ?? 0 }

/// What the words of a function hold, in the library's image.
func words(_ selector: String, in library: CLibrary) -> [UInt64] {
  guard let program = ProcessCatalog.shared.families(matching: SelectorPattern(selector)).first else { return [] }
  return program.1.bodies.filter { $0.place?.importer.path == library.path }.map {
    UnsafePointer<UInt64>(bitPattern: UInt($0.address))!.pointee
  }
}
func places(_ selector: String, in library: CLibrary) -> [UInt64] {
  ProcessCatalog.shared.families(matching: SelectorPattern(selector)).flatMap {
    $0.1.bodies.filter { $0.place?.importer.path == library.path }.map(\.address)
  }
}
