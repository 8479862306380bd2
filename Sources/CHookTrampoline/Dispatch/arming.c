// Arming: how the replacement of a function compiled `dynamic` reaches the function's own body.
//
// Such a function asks swift_getFunctionReplacement first, which answers what its variable holds, unless the thread is
// armed: swift_getOrigOfReplaceable arms it for the next question. So calls that a replacement forwards go through a stub
// that arms the thread and enters the function. Between the two no code of the program or of a handler runs.
#include "arming.h"

#include "HKTSlots.h"

// What the Swift runtime has, where it is: this target links nothing of Swift's.
extern void *swift_getOrigOfReplaceable(void **function) __attribute__((weak));
extern void *swift_getFunctionReplacement(void **function, void *current) __attribute__((weak));

/// From arming_x86_64.S, with every register saved.
__attribute__((visibility("hidden"))) void hkt_arm(HKTArming *arming) { swift_getOrigOfReplaceable(&arming->function); }

bool hkt_can_arm(void) { return swift_getOrigOfReplaceable != NULL; }

void hkt_disarm(void) {
  // Asked about a function whose variable differs, the runtime answers and takes the arming back.
  void *other = (void *)1;
  if (swift_getFunctionReplacement) swift_getFunctionReplacement(&other, NULL);
}
