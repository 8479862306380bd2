// slot-cases [NAME…] — the back ends beside the entry patch, on a small hierarchy. Run by Tests/Programs/slots, at both levels.
import Glibc
import HookRuntime
import SlotSubjects

TypeResolver.shared.findDescriptor = { TypeCatalog.shared.descriptor($0.description) }
let names = CommandLine.arguments.dropFirst()
for (name, body) in tableCases + replacementCases + switchCases + modelCases where names.isEmpty || names.contains(where: name.contains) {
  let before = failures
  do { try body() } catch { check("\(error)", "no error", name) }
  print(failures == before ? "ok      \(name)" : "FAILED  \(name)")
}
print(failures == 0 ? "all cases passed" : "\(failures) checks failed")
exit(failures == 0 ? 0 : 1)
