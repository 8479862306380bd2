// Opens a library and calls it.
import Glibc

guard let library = dlopen("./libLate.so", RTLD_NOW), let run = dlsym(library, "late_run") else { fatalError(String(cString: dlerror())) }
unsafeBitCast(run, to: (@convention(c) () -> Void).self)()
