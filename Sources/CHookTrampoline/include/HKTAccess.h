// HKTAccess — the end of an access that a modify or read coroutine began.
//
// A coroutine accessor of the older form returns, first, the function that ends the access: its caller calls that with the
// buffer it gave the accessor, and whether the access is given up. To see the end, that function is replaced by ours, which
// knows the right one by the buffer: no two open accesses share one.
#ifndef HKT_ACCESS_H
#define HKT_ACCESS_H

#include <stdbool.h>
#include <stdint.h>

struct HKTFrame;

/// Called on the thread that ends the access, when it is over. Hooked functions it calls fire.
typedef void (*HKTAccessEnd)(void *context);

/// Has `ended` called once when the access is over that began with the call of this frame. Only where a coroutine accessor of the
/// older form has returned: in its HKT_EXIT, or after hkt_call_program. False when memory runs out: nothing was changed then.
bool hkt_on_access_end(struct HKTFrame *frame, HKTAccessEnd ended, void *context);

/// Something that is under way on a thread, from push to pop. What is pushed later is popped before.
typedef struct HKTWindow {
  struct HKTWindow *up;
  const void *subject;
  uint64_t object;
  bool is_reported;
} HKTWindow;

void hkt_window_push(HKTWindow *window);
/// Takes it out; nothing happens when it was left by an error that jumped over the pop of another one.
void hkt_window_pop(HKTWindow *window);
/// Marks every open window of this thread of the same subject and object.
void hkt_windows_report(const void *subject, uint64_t object);

#endif
