// C++ in between, and code that the address sanitizer does not watch.
#include <cstddef>

namespace below {
void runThis(void (*body)()) { body(); }
}  // namespace below

extern "C" void *__asan_region_is_poisoned(void *begin, size_t size) __attribute__((weak));

/// Whether the sanitizer takes some of this frame, which it knows nothing of, for what nobody may use: the library's functions would be reported.
extern "C" int finds_poison() {
  char bytes[32 << 10];
  asm volatile("" : : "r"(bytes) : "memory");
  return __asan_region_is_poisoned && __asan_region_is_poisoned(bytes, sizeof bytes) ? 1 : 0;
}
