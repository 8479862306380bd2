// The two crossings of closures: the program calls one of ours, a script calls one of the program's.
#include "CHookTrampoline.h"

#include <errno.h>

static HKTClosureHandler closure_handler;
void hkt_set_closure_handler(HKTClosureHandler handler) { closure_handler = handler; }

/// Called by hkt_closure_entry.
__attribute__((visibility("hidden"))) void hkt_closure_called(HKTFrame *frame, void *context) {
  int saved_errno = errno;
  HKTThread *t = hkt_thread();
  if (t) t->host++;
  closure_handler(frame, context, t);
  if (t) t->host--;
  errno = saved_errno;
}

void hkt_call_program(HKTFrame *frame, void *target, size_t stack_bytes) {
  HKTThread *t = hkt_thread();
  uint32_t host = t ? t->host : 0;
  if (t) t->host = 0;
  hkt_invoke(frame, target, stack_bytes);
  if (t) t->host = host;
}

void *hkt_closure_entry_address(void) { return (void *)hkt_closure_entry; }
