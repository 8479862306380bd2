// Private to this target: what the kernel says about the threads of this process.
#ifndef HKT_THREADS_H
#define HKT_THREADS_H

#include <stdbool.h>
#include <stdint.h>

/// One thread at one moment.
typedef struct HKTThreadStatus {
  char state;         // R running, S asleep, D asleep for a device, T stopped, Z and X: will not run again
  char name[16];
  uint64_t blocked;   // bit n-1: signal n
  uint64_t switches;  // grows whenever the thread stops running
} HKTThreadStatus;

/// Threads of the process as the kernel counts them; -1 with errno when the list cannot be read.
int hkt_thread_count(void);

/// Calls `visit` for every thread, until one answers false. False with errno when the list cannot be read.
bool hkt_each_thread(bool (*visit)(int32_t thread, void *context), void *context);

/// False when the thread is gone.
bool hkt_thread_status(int32_t thread, HKTThreadStatus *status);

/// When a thread was created, in clock ticks since the system started; 0 when it is gone.
uint64_t hkt_thread_birth(int32_t thread);
/// Now, in the same unit.
uint64_t hkt_ticks_now(void);

/// The program counter of a thread that is inside the kernel and not on a processor; false while it runs, or where this is not known.
bool hkt_thread_parked_at(int32_t thread, uint64_t *counter);

static inline bool hkt_blocks(const HKTThreadStatus *s, int signal) { return s->blocked >> (signal - 1) & 1; }
static inline bool hkt_is_over(const HKTThreadStatus *s) { return s->state == 'Z' || s->state == 'X'; }

#endif
