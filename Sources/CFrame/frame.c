// What hot code relies on: a slot is read as one word of four bytes.
#include "CFrame.h"

_Static_assert(sizeof(HKTValueSlot) == 4 && offsetof(HKTValueSlot, place) == 2, "slots lie one behind the other in arrays");
_Static_assert(sizeof(HKTFrame) < HKT_ON_STACK, "every byte of a frame has a place");
