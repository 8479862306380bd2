// Counts allocations and locks of a whole process, and writes them to $COUNTS when it ends.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t), *__libc_memalign(size_t, size_t);
static _Atomic long allocations, locks;
static int (*lock)(pthread_mutex_t *);

void *malloc(size_t size) { allocations++; return __libc_malloc(size); }
void *calloc(size_t count, size_t size) { allocations++; return __libc_calloc(count, size); }
void *realloc(void *old, size_t size) { allocations++; return __libc_realloc(old, size); }
void *aligned_alloc(size_t alignment, size_t size) { allocations++; return __libc_memalign(alignment, size); }
int posix_memalign(void **place, size_t alignment, size_t size) { allocations++; return (*place = __libc_memalign(alignment, size)) ? 0 : 12; }
int pthread_mutex_lock(pthread_mutex_t *mutex) {
  locks++;
  if (!lock) lock = dlsym(RTLD_NEXT, "pthread_mutex_lock");
  return lock(mutex);
}

__attribute__((destructor)) static void tell(void) {
  const char *path = getenv("COUNTS");
  int file = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
  if (file >= 0) dprintf(file, "%ld %ld\n", (long)allocations, (long)locks);
}
