// What programs of types made at run time check besides values: refusals and memory, one line each, `ok` or `WRONG`.
import Glibc

/// The level the module was compiled at: at -O it calls directly, and reads and writes in line, what is not open.
let isOptimised = CommandLine.arguments.contains("-O")

func refused(_ what: String, _ expected: String, _ body: () throws -> Void) {
  do {
    try body()
    print("WRONG   \(what): nothing was refused")
  } catch {
    let text = "\(error)"
    print(text.contains(expected) ? "ok      \(what)" : "WRONG   \(what): found '\(text)', expected '\(expected)'")
  }
}

/// Resident memory, in kilobytes.
func resident() -> Int {
  guard let file = fopen("/proc/self/statm", "r") else { return 0 }
  defer { fclose(file) }
  var buffer = [CChar](repeating: 0, count: 128)
  fgets(&buffer, 128, file)
  let fields = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self).split(separator: " ")
  return Int(fields[1])! * 4
}
