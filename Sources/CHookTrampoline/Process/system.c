// The kernel calls that may fail, in one table that tests replace. Who calls them owns what they do.
#define _GNU_SOURCE
#include "HKTPatching.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *system_map(void *address, size_t length, int protection, int flags, int fd, off_t offset) {
  return mmap(address, length, protection, flags, fd, offset);
}
static int system_memfd(const char *name, unsigned flags) { return (int)syscall(SYS_memfd_create, name, flags); }
static int system_open(const char *path, int flags) { return open(path, flags); }
static ssize_t system_write(int fd, const void *bytes, size_t count, off_t offset) { return pwrite(fd, bytes, count, offset); }
static int system_protect(void *address, size_t length, int protection) { return mprotect(address, length, protection); }

HKTSystem hkt_system = {system_map, system_memfd, system_open, system_write, system_protect};
