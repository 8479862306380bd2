#define _GNU_SOURCE 1
#include "HKTImages.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stddef.h>

/// Asks a library or RTLD_… for a symbol; NULL: it has none, or `scope` is.
static void *find(void *scope, const char *symbol, const char *version) {
  if (!scope) return NULL;
  return version ? dlvsym(scope, symbol, version) : dlsym(scope, symbol);
}

bool hkt_is_relay(uint64_t address) {
  Dl_info unused;
  ElfW(Sym) *symbol = NULL;
  // dladdr counts an undefined symbol with a value as the function's: the program's own way to it.
  return dladdr1((void *)address, &unused, (void **)&symbol, RTLD_DL_SYMENT) && symbol && symbol->st_shndx == SHN_UNDEF &&
         (uint64_t)unused.dli_saddr == address;
}

/// The first definition of what the program is at a fixed address for: images stand in the order in which they are searched.
static void *find_beyond(void *program, const char *symbol, const char *version) {
  for (struct link_map *image = ((struct link_map *)program)->l_next; image; image = image->l_next) {
    void *scope = dlopen(image->l_name, RTLD_LAZY | RTLD_NOLOAD), *found = find(scope, symbol, version);
    if (scope) dlclose(scope);
    Dl_info unused;
    struct link_map *owner = NULL;
    // What an image needs was searched with it.
    if (found && dladdr1(found, &unused, (void **)&owner, RTLD_DL_LINKMAP) && owner == image) return found;
  }
  return NULL;
}

uint64_t hkt_bound_function(const char *path, bool is_symbolic, const char *symbol, const char *version) {
  void *program = dlopen(NULL, RTLD_LAZY | RTLD_NOLOAD);
  void *own = path ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
  void *first = is_symbolic ? own : program, *second = is_symbolic ? program : own;
  void *found = find(first, symbol, version);
  if (!found) found = find(second, symbol, version);
  if (found && program && hkt_is_relay((uint64_t)found)) found = find_beyond(program, symbol, version);
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
