// bench — runs every measurement in turn and prints the table. Called by scripts/bench.
import Glibc

let settings = Settings(CommandLine.arguments.dropFirst())
let workplace = Workplace(settings)
defer { workplace.remove() }

// Read first: a wrong name is told before anything is measured.
let before = settings.against.isEmpty ? nil : Before(settings.against)
var samples = Samples()
let plans = Plan.all(settings, workplace).filter { plan in settings.only.isEmpty || settings.only.contains(where: plan.title.contains) }
if plans.isEmpty { fail("nothing is measured whose title has one of '\(settings.only.joined(separator: "', '"))'; titles are \(Plan.all(settings, workplace).map(\.title).joined(separator: "; "))") }
for plan in plans {
  progress(plan.title)
  plan.run(&samples)
}
let report = Report(samples)
if settings.json { report.printJSON() } else { report.printTable(beside: before) }

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
