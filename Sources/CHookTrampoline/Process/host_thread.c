// Threads of the host: their signals, their names, their descriptors.
#define _GNU_SOURCE
#include "HKTHostThread.h"

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE (1U << 1)
#endif

/// So many real-time signals from the top stay open: the rendezvous takes the first that the program leaves alone.
enum { real_time_signals = 4 };

void hkt_host_thread_mask(void *set) {
  sigset_t *mask = set;
  static const int answered[] = {SIGTRAP, SIGSYS, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
  sigfillset(mask);
  for (size_t i = 0; i < sizeof answered / sizeof *answered; i++) sigdelset(mask, answered[i]);
  for (int i = 1; i <= real_time_signals; i++) sigdelset(mask, SIGRTMAX - i);
}

void hkt_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

bool hkt_unshare_descriptors(void) {
  if (syscall(SYS_close_range, 0u, ~0u, CLOSE_RANGE_UNSHARE) != 0) return false;
  for (int i = 0; i < 3; i++) (void)open("/dev/null", O_RDWR | O_CLOEXEC);
  return true;
}
