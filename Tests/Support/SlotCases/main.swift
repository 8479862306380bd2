// slot-cases [NAME…] — the back ends beside the entry patch, on a small hierarchy. Run by Tests/Programs/slots, at both levels.
import Checks
import Glibc
import HookRuntime
import SlotSubjects

TypeResolver.shared.findDescriptor = { TypeCatalog.shared.descriptor($0.description) }
runCases(tableCases + replacementCases + switchCases + modelCases, named: Array(CommandLine.arguments.dropFirst()))
