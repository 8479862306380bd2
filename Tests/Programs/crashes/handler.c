// Crashes, and what is asked for the report crashes, too: a program of its own, with nothing of ScriptHost but CCrash.
#include "CCrash.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static int32_t crashing(int32_t thread, uint64_t *pairs, int32_t room) {
  (void)thread, (void)pairs, (void)room;
  *(volatile int *)8 = 1;
  return 0;
}
static const char *also_crashing(void) { return *(const char *volatile *)16; }
static void *waiting(void *_) {
  pause();
  return _;
}

int main(int count, char **arguments) {
  if (ccrash_open(arguments[1], arguments[0], "", "", count) != 0) return 1;
  ccrash_install();
  ccrash_set_calls_of(crashing);
  if (count > 2 && strcmp(arguments[2], "twice") == 0) ccrash_set_refusal(also_crashing);
  pthread_t thread;
  pthread_create(&thread, NULL, waiting, NULL);
  __builtin_trap();
}
