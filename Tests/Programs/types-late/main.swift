// Prints what it computes; hooks add to the arguments.
import Glibc
import Kit

func show(_ when: String) {
  print(when, "walk", walk(Base(), 1), walk(Crate("x"), 1), "greet", greet(Base(), 1), "swapped", swapped(1), "dropped", dropped(1))
  guard let late else { return }
  print(when, "late walk", late.walkers.map { walk($0, 1) }, "late greet", late.greeters.map { greet($0, 1) })
}

/// Patches hook here what they hook late, and say what there is.
@_optimize(none) @inline(never) func ready() {}

show("before")
guard let handle = dlopen(CommandLine.arguments[1], RTLD_NOW) else { fatalError(String(cString: dlerror())) }
// The function takes and returns nothing.
unsafeBitCast(dlsym(handle, "bring")!, to: (@convention(c) () -> Void).self)()
ready()
show("after")
