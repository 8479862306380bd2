// Private to this target: what the stub of a replaceable function leaves in r11.
#ifndef HKT_ARMING_H
#define HKT_ARMING_H

#include <stdbool.h>
#include <stddef.h>

/// Never freed, like the stub.
typedef struct HKTArming {
  void *entry;     // +0  hkt_arm_and_enter: the stub jumps through it
  void *function;  // +8  what is entered: arming_x86_64.S jumps there
} HKTArming;
_Static_assert(offsetof(HKTArming, entry) == 0 && offsetof(HKTArming, function) == 8, "arming_x86_64.S");

/// Arms the thread and enters the function. Not callable from C.
__attribute__((visibility("hidden"))) void hkt_arm_and_enter(void);

/// The Swift runtime has what arming needs.
__attribute__((visibility("hidden"))) bool hkt_can_arm(void);

#endif
