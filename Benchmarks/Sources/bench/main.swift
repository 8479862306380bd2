// bench — runs every measurement in turn and prints the table. Called by scripts/bench.
import Glibc

let settings = Settings(CommandLine.arguments.dropFirst())
let workplace = Workplace(settings)
defer { workplace.remove() }

var samples = Samples()
for plan in Plan.all(settings, workplace) {
  progress(plan.title)
  plan.run(&samples)
}
let report = Report(samples)
if settings.json { report.printJSON() } else { report.printTable() }

func progress(_ text: String) { tell("==> \(text)\n") }

func fail(_ text: String) -> Never {
  tell("bench: \(text)\n")
  exit(1)
}

/// Standard error, without the C library's variable that is not safe to share.
func tell(_ text: String) {
  var text = text
  text.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
}
