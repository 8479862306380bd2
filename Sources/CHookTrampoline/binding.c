#define _GNU_SOURCE 1
#include "HKTImages.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>

static void *find(void *scope, const char *symbol, const char *version) {
  if (!scope) return NULL;
  return version ? dlvsym(scope, symbol, version) : dlsym(scope, symbol);
}

uint64_t hkt_bound_function(const char *path, bool is_symbolic, const char *symbol, const char *version) {
  void *program = dlopen(NULL, RTLD_LAZY | RTLD_NOLOAD);
  void *own = path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
  void *first = is_symbolic ? own : program, *second = is_symbolic ? program : own;
  void *found = find(first, symbol, version);
  if (!found) found = find(second, symbol, version);
  if (program) dlclose(program);
  if (own) dlclose(own);
  // What was not found is nobody's error.
  dlerror();
  return (uint64_t)found;
}

bool hkt_pin_image(const char *path, uint64_t *bias) {
  struct link_map *image = dlopen(path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  if (!image) {
    dlerror();
    return false;
  }
  if (bias) *bias = image->l_addr;
  dlclose(image);
  return true;
}
