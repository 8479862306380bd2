// HKTHostThread — what a thread of the host inside a program needs that Swift cannot say. Used by ScriptHost/Host/HostThread.swift.
#ifndef HKT_HOST_THREAD_H
#define HKT_HOST_THREAD_H

#include <stdbool.h>

/// The signals that a host thread blocks: all but those a fault of this very thread raises, SIGTRAP and SIGSYS, and the real-time
/// signals from the top that the rendezvous takes its own from (rendezvous.c).
void hkt_host_thread_mask(void *mask);  // a sigset_t

/// Names the calling thread, for ps and debuggers. At most 15 bytes are kept.
void hkt_name_thread(const char *name);

/// Gives the calling thread a table of descriptors of its own, with /dev/null as 0, 1 and 2 and nothing else: what it opens from now
/// on the program never sees, nor its forked children, no number is taken from it, and nothing is kept open that it closes. What the
/// process opened before cannot be used in this thread any more. False, with errno: the kernel does not allow it; nothing changed.
bool hkt_unshare_descriptors(void);

#endif
