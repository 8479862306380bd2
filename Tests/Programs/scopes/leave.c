// Leaves functions without returning. Loaded before `engine-cases --left`.
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>

static jmp_buf place;

/// Whether the body was left by `cases_leave`.
bool cases_call(void (*body)(void)) {
  if (setjmp(place)) return true;
  body();
  return false;
}

void cases_leave(void) { longjmp(place, 1); }

/// Writes over what lies below on the stack.
__attribute__((noinline)) void cases_scribble(void) {
  volatile char below[16384];
  memset((char *)below, 0x5a, sizeof below);
}
