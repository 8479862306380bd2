// import-cases DIRECTORY [NAME…] — hooks on C functions through import tables, on real libraries in the directory. Run by
// Tests/Programs/imports, at both levels.
import Glibc
import HookRuntime

let wanted = CommandLine.arguments.dropFirst(2)
for (name, body) in slotCases + allocationCases + imageCases + processCases + laterCases
where wanted.isEmpty || wanted.contains(where: name.contains) {
  let before = failures
  do { try body() } catch { check("\(error)", "no error", name) }
  HookEngine.shared.removeAll(owner: "cases")
  print(failures == before ? "ok      \(name)" : "FAILED  \(name)")
}
print(failures == 0 ? "all cases passed" : "\(failures) checks failed")
exit(failures == 0 ? 0 : 1)
