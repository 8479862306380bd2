import Glibc

// Writes which of the low descriptors are open and which number a new file gets.
// With a second word: prints the environment.
var line = "open:"
for descriptor in 0..<16 as Range<Int32> where fcntl(descriptor, F_GETFD) >= 0 { line += " \(descriptor)" }
@inline(never) func write(_ text: String, to path: String) {
  let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
  _ = Glibc.write(file, text, text.utf8.count)
}
let new = open("/dev/null", O_RDONLY)
line += " new: \(new)\n"
write(line, to: CommandLine.arguments[1])
if CommandLine.arguments.count > 2 {
  var variable = environ
  while let text = variable.pointee {
    puts(text)
    variable += 1
  }
}
