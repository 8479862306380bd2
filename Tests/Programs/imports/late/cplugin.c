// A C library that the program opens, closes and opens again.
#include <stdlib.h>
#include <string.h>

int cplugin_run(void) {
  const char *home = getenv("SUBJECT_HOME");
  return home ? (int)strlen(home) : -1;
}
