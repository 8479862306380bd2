// import-cases DIRECTORY [NAME…] — hooks on C functions through import tables, on real libraries in the directory. Run by
// Tests/Programs/imports, at both levels.
import Checks
import Glibc
import HookRuntime

// Closures of another type are not cast in an array: each is called by one of the right type.
let cases = (slotCases + allocationCases + imageCases + processCases + laterCases).map { name, body in (name, { () throws -> Void in try body() }) }
runCases(cases, named: Array(CommandLine.arguments.dropFirst(2))) {
  HookEngine.shared.removeAll(owner: "cases")
}
