// A program that calls C functions of a library and of libc, and prints what they gave it.
import Glibc
import Subject

@inline(never) func shapes() {
  withUnsafeMutablePointer(to: &slot) { pointer in
    let all = "four".withCString { subject_many(1, 2.5, $0, 1.5, 5, 250, pointer, -8, 9, 10.5, 11, 12, 13, 14, 15, 16, 17.25, true) }
    print("many", all)
  }
  print("sum", subject_total(), "narrow", subject_narrow(-5, -300, 200, 60000))
  for name in ["Ada", "nobody"] { print("greeting", subject_greeting(name).map { String(cString: $0) } ?? "nil") }
  errno = 0
  let answer = subject_fails()
  print("fails", answer, "errno", errno)
  print("apply", subject_apply({ $0 * 2 }, 21))
  print("inner", subject_inner())
}
nonisolated(unsafe) var slot: Int32 = 7

/// Swift cannot call functions with variadic arguments: a helper beside the program does.
@_silgen_name("subject_total") func subject_total() -> Double

@inline(never) func files() {
  let missing = open("/no/such/file", O_RDONLY)
  print("open", missing, "errno", errno)
  let null = open("/dev/null", O_RDWR)
  var byte: UInt8 = 65
  print("write", write(null, &byte, 1), "read", read(null, &byte, 1), "close", close(null))
  print("home", getenv("SUBJECT_HOME").map { String(cString: $0) } ?? "nil")
}

@inline(never) func memory() {
  let block = malloc(64)
  let more = realloc(block, 128)
  free(more)
  print("memory", block != nil && more != nil)
}

shapes()
files()
memory()
