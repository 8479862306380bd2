// Runs before main: what a program's own constructor sees of the environment.
#include <stdio.h>
#include <stdlib.h>

static char seen[256];

__attribute__((constructor)) static void look(void) {
  const char *preload = getenv("LD_PRELOAD"), *boot = getenv("SCRIPTHOST_BOOT");
  snprintf(seen, sizeof seen, "LD_PRELOAD %s, SCRIPTHOST_BOOT %s", preload ? preload : "unset", boot ? "set" : "unset");
}

__attribute__((visibility("default"))) const char *probe_constructor_saw(void) { return seen; }
