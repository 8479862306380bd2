// A program without Foundation.
import Glibc

@inline(never) public func step(_ number: Int) -> Int { number + 1 }
print(step(1))
print(dlopen("libFoundation.so", RTLD_NOLOAD | RTLD_NOW) == nil ? "no Foundation" : "Foundation is there")
