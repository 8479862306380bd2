// import-cases DIRECTORY [NAME…] — hooks on C functions through import tables, on real libraries in the directory. Run by
// Tests/Programs/imports, at both levels.
import Checks
import Glibc
import HookRuntime

runCases(slotCases + allocationCases + imageCases + processCases + laterCases, named: Array(CommandLine.arguments.dropFirst(2))) {
  HookEngine.shared.removeAll(owner: "cases")
}
