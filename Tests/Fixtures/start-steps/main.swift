// start-steps — a program that imports ScriptHost and asks for steps of its start.
//
//     start-steps CACHE [crash|wait|worse]      worse: the repair itself crashes
private import Glibc
private import ScriptHost

/// Written at once: the program may crash. Not through stdio, whose flushing waits for who reads the input.
@Sendable func say(_ text: String) { _ = (text + "\n").withCString { write(1, $0, strlen($0)) } }

let words = CommandLine.arguments
say("failed starts \(ScriptHost.failedStarts)")
let isRepaired = ScriptHost.bootTask("repair", phase: .now, afterFailedStarts: 2) {
  say("step repair")
  if words.contains("worse") { abort() }
}
say("repair \(isRepaired)")
say("cache \(ScriptHost.bootCache(words[1])) \(ScriptHost.bootCache("relative"))")
if words.count > 2, words[2] == "crash" { abort() }
for (name, priority) in [("second", 0), ("first", 10), ("third", 0)] {
  say("\(name) \(ScriptHost.bootTask(name, priority: priority) { say("step \(name)") })")
}
say("last \(ScriptHost.bootTask("last", phase: .idle) { say("step last") })")
say("never \(ScriptHost.bootTask("never", afterFailedStarts: 100) { say("step never") })")
if words.count > 2, words[2] == "wait" {
  // Until the input ends.
  while readLine() != nil {}
  say("late \(ScriptHost.bootTask("late") { say("step late") })")
  ScriptHost.up()
}
say("done")
