#define _GNU_SOURCE 1
#include "HKTPeek.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static _Atomic(bool) is_forbidden;

bool hkt_peek(uint64_t address, void *to, size_t count) {
  if (!atomic_load_explicit(&is_forbidden, memory_order_relaxed)) {
    int saved_errno = errno;
    struct iovec local = {to, count}, remote = {(void *)address, count};
    ssize_t done = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
    int error = errno;
    errno = saved_errno;
    if (done == (ssize_t)count) return true;
    if (done >= 0 || error == EFAULT) return false;
    atomic_store_explicit(&is_forbidden, true, memory_order_relaxed);
  }
  memcpy(to, (const void *)address, count);
  return true;
}
