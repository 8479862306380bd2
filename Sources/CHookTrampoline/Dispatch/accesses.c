// The end of an access: who stands in for the second half of a coroutine accessor.
//
// Invariants
//   1. An entry is in the table from the return of the accessor to the start of its second half; it is keyed by the
//      coroutine's buffer, which lies in its caller's frame all that time.
//   2. Several entries of one buffer are one inside the other: the latest was returned to the caller.
#define _GNU_SOURCE 1
#include "CHookTrampoline.h"

#include "thread_records.h"

#include <pthread.h>
#include <stdlib.h>

typedef void (*SecondHalf)(void *buffer, uint64_t is_given_up);

typedef struct Entry {
  struct Entry *next;
  void *buffer;
  SecondHalf original;
  HKTAccessEnd ended;
  void *context;
} Entry;

enum { BUCKETS = 64 };
static struct { pthread_mutex_t lock; Entry *first; } table[BUCKETS] = {
    [0 ... BUCKETS - 1] = {PTHREAD_MUTEX_INITIALIZER, NULL}};

static unsigned bucket_of(void *buffer) { return (unsigned)((uintptr_t)buffer >> 5) % BUCKETS; }

/// Takes the entry of a coroutine's buffer out of the table; NULL: there is none. Any thread.
static Entry *take(void *buffer) {
  unsigned i = bucket_of(buffer);
  pthread_mutex_lock(&table[i].lock);
  Entry **link = &table[i].first, *entry;
  while ((entry = *link) && entry->buffer != buffer) link = &entry->next;
  if (entry) *link = entry->next;
  pthread_mutex_unlock(&table[i].lock);
  return entry;
}

/// What callers call to end an access. Coroutine continuations take two words as C functions do, and return nothing
/// (`void (ptr, i1)`, swiftcc).
static void second_half(void *buffer, uint64_t is_given_up) {
  Entry *entry = take(buffer);
  if (!entry) abort();  // invariant 1: somebody ended the access twice
  Entry own = *entry;
  free(entry);
  own.original(buffer, is_given_up);
  own.ended(own.context);
}

bool hkt_on_access_end(HKTFrame *frame, HKTAccessEnd ended, void *context) {
  Entry *entry = malloc(sizeof *entry);
  if (!entry) return false;
  void *buffer = (void *)frame->integer[0];
  *entry = (Entry){.buffer = buffer, .original = (SecondHalf)frame->results.integer[0], .ended = ended, .context = context};
  unsigned i = bucket_of(buffer);
  pthread_mutex_lock(&table[i].lock);
  entry->next = table[i].first;
  table[i].first = entry;
  pthread_mutex_unlock(&table[i].lock);
  frame->results.integer[0] = (uint64_t)second_half;
  return true;
}

// MARK: Windows

static __thread HKTWindow *open_windows __attribute__((tls_model("initial-exec")));

void hkt_window_push(HKTWindow *window) {
  window->up = open_windows;
  open_windows = window;
}

void hkt_window_pop(HKTWindow *window) {
  for (HKTWindow *each = open_windows; each; each = each->up)
    if (each == window) { open_windows = window->up; return; }
}

HKTWindow *hkt_windows(void) { return open_windows; }
void hkt_windows_set(HKTWindow *windows) { open_windows = windows; }

void hkt_windows_report(const void *subject, uint64_t object) {
  for (HKTWindow *each = open_windows; each; each = each->up)
    if (each->subject == subject && each->object == object) each->is_reported = true;
}
