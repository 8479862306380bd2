// Plan — the measurements, in order. Baselines run in the same round as what is compared with them.

struct Plan {
  let title: String
  let run: (inout Samples) -> Void

  static func all(_ settings: Settings, _ workplace: Workplace) -> [Plan] {
    let hosted = [settings.host, "run", "--state", workplace.state]
    let hooked = hosted + ["--patches", workplace.hooks, "--", settings.subject]
    let repetitions = settings.quick ? "3" : "5"
    return [
      Plan(title: "calls without hooks") { samples in
        for _ in 0..<settings.rounds {
          samples.read(Child.run([settings.subject, "loop", repetitions]).output, prefix: "alone: ")
          samples.read(Child.run(hosted + ["--", settings.subject, "loop", repetitions]).output, prefix: "hosted: ")
        }
      },
      Plan(title: "calls with Swift layers") { samples in
        for _ in 0..<settings.rounds { samples.read(Child.run([settings.engine, "calls", repetitions]).output, prefix: "engine: ") }
      },
      Plan(title: "back ends and scopes") { samples in
        for _ in 0..<settings.rounds { samples.read(Child.run([settings.engine, "ways", repetitions]).output) }
      },
      Plan(title: "calls with handlers and rules") { samples in
        for _ in 0..<settings.rounds { samples.read(Child.run(hooked + ["calls", repetitions]).output) }
      },
      Plan(title: "values of every kind") { samples in
        for _ in 0..<settings.fewRounds {
          samples.read(Child.run([settings.kinds, "values", "3"]).output, prefix: "passed: ")
          for (patches, name) in [(workplace.reading, "read: "), (workplace.replacing, "replaced: ")] {
            samples.read(Child.run(hosted + ["--patches", patches, "--", settings.kinds, "values", "3"]).output, prefix: name)
          }
        }
      },
      Plan(title: "calls by scripts, closures, async functions") { samples in
        for _ in 0..<settings.fewRounds {
          for mode in ["calls", "async"] {
            samples.read(Child.run(hosted + ["--patches", workplace.calling, "--", settings.kinds, mode, "3"]).output)
          }
        }
      },
      Plan(title: "a rule on two threads") { samples in
        for _ in 0..<settings.rounds { samples.read(Child.run(hooked + ["threads", repetitions]).output) }
      },
      Plan(title: "rules of every kind") { samples in
        let ruled = hosted + ["--patches", workplace.rules, "--", settings.subject]
        for _ in 0..<settings.rounds {
          samples.read(Child.run([settings.subject, "rules", repetitions]).output, prefix: "alone: ")
          samples.read(Child.run(ruled + ["rules", repetitions]).output)
        }
      },
      Plan(title: "requests of URLSession") { samples in
        let sink = Sink()
        let tasks = settings.quick ? "200" : "1000"
        for _ in 0..<settings.rounds {
          samples.read(Child.run([settings.client, sink.url, tasks, repetitions]).output, prefix: "alone: ")
          samples.read(Child.run(hosted + ["--network", "--", settings.client, sink.url, tasks, repetitions]).output, prefix: "recorded: ")
        }
      },
      Plan(title: "exports") { samples in
        // Three spans a trace.
        let traces = settings.quick ? 33_334 : 333_334
        let journal = workplace.directory + "/exported"
        _ = Child.run(["/bin/mkdir", "-p", journal + "/journal"])
        _ = Child.run([settings.products + "/record-sample", journal + "/journal", "\(traces)"])
        let files = [("jsonl", "--jsonl", "records.jsonl"), ("perfetto", "--perfetto", "trace.pftrace"), ("folded", "--folded", "stacks.txt"), ("sqlite", "--sqlite", "records.db")]
        for (name, option, file) in files {
          let run = Child.run([settings.host, "export", "--state", journal, option, workplace.directory + "/" + file])
          samples.add("export " + name, run.milliseconds * 1_000_000 / Double(3 * traces))
        }
        let sent = Child.run([settings.host, "export", "--state", journal, "--otlp", Sink().url])
        samples.add("export otlp", sent.milliseconds * 1_000_000 / Double(3 * traces))
        let page = Child.run([settings.host, "report", "--state", journal, "-o", workplace.directory + "/report.html"])
        samples.add("export report", page.milliseconds * 1_000_000 / Double(3 * traces))
      },
      Plan(title: "boot and memory") { samples in
        for _ in 0..<settings.rounds * 3 {
          samples.add("start alone", Child.run([settings.subject, "exit"]).milliseconds)
          samples.add("start hosted", Child.run(hosted + ["--", settings.subject, "exit"]).milliseconds)
          samples.add("start 100", Child.run(hosted + ["--patches", workplace.hundred, "--", settings.subject, "exit"]).milliseconds)
        }
        for _ in 0..<settings.rounds {
          samples.read(Child.run([settings.subject, "memory"]).output, prefix: "alone ")
          samples.read(Child.run(hosted + ["--", settings.subject, "memory"]).output, prefix: "hosted ")
          samples.read(Child.run(hosted + ["--patches", workplace.hundred, "--", settings.subject, "memory"]).output, prefix: "100 ")
          samples.read(Child.run([settings.subject, "states", workplace.hundred]).output)
        }
      },
      Plan(title: "installing hooks") { samples in
        for count in ["1000", "50000"] {
          for _ in 0..<(settings.quick ? 1 : 3) {
            samples.read(Child.run([settings.engine, "install", settings.largeLibrary, count]).output)
          }
        }
        // Twice: the first one writes the index.
        let program = settings.toolchain + "/swift-format"
        for round in 0..<(settings.quick ? 2 : 3) {
          let alone = Child.run([program, "--version"], capture: false).milliseconds
          let all = Child.run(hosted + ["--patches", workplace.everything, "--", program, "--version"], capture: false).milliseconds
          let tree = Child.run(hosted + ["--patches", workplace.tree, "--", program, "--version"], capture: false).milliseconds
          if round > 0 {
            samples.add("start with everything hooked", all - alone)
            samples.add("start with a tree", tree - alone)
          }
        }
      },
      Plan(title: "crash protection: contain, breadcrumbs, watchdog") { samples in
        let crumbless = [settings.host, "run", "--state", workplace.crumbless]
        for _ in 0..<settings.rounds {
          for (words, name) in [(hosted, "crumbs: "), (crumbless, "no crumbs: ")] {
            samples.read(Child.run(words + ["--patches", workplace.hooks, "--", settings.subject, "calls", repetitions]).output, prefix: name)
          }
          samples.read(Child.run(hosted + ["--patches", workplace.traps, "--", settings.subject, "traps", repetitions]).output)
          for (patches, name) in [(workplace.guards + "/none.lua", "unwatched: "), (workplace.watchdog, "watched: ")] {
            samples.read(Child.run(hosted + ["--patches", patches, "--", settings.subject, "watched", repetitions]).output, prefix: name)
          }
        }
      },
      Plan(title: "guards on swift-format") { samples in
        let program = settings.toolchain + "/swift-format", files = Guard.files(settings)
        let asked = Guard.all.map { ($0.name, ["--patches", workplace.guards + "/\($0.name).lua"]) } + [("apm", ["--apm"])]
        // The first of a kind writes what later ones find.
        for (_, words) in asked { _ = Child.run(hosted + words + ["--no-control", "--", program, "--version"], capture: false) }
        for _ in 0..<settings.rounds {
          for (name, words) in asked {
            let command = hosted + words + ["--no-control", "--", program]
            let start = Child.run(command + ["--version"], capture: false).milliseconds
            samples.add("guard start " + name, start)
            samples.add("guard work " + name, Child.run(command + ["format"] + files, capture: false).milliseconds - start)
          }
        }
      },
      Plan(title: "a living process: reloads, completion, top") { samples in
        let words = [settings.host, settings.toolchain, settings.subject, workplace.directory, "\(settings.fewRounds)"]
        samples.read(Child.run(["/usr/bin/python3", settings.live] + words).output)
      },
      Plan(title: "index of a large binary") { samples in
        for round in 0..<(settings.quick ? 2 : 4) {
          let directory = workplace.directory + "/index\(round)"
          let command = [settings.engine, "index", settings.largeBinary, directory, "Workspace.Workspace.loadPackageGraph(rootPath:)"]
          _ = Child.run(["/bin/mkdir", directory])
          for _ in 0..<3 { samples.read(Child.run(command).output) }
        }
      },
    ]
  }
}
