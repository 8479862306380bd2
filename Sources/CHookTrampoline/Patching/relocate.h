// Private to this target: moving a body's first instructions.
#ifndef HKT_RELOCATE_H
#define HKT_RELOCATE_H

#include "patch_record.h"

/// Moves the window of `body`, whose bytes are readable at `code`, as if the copy were placed at `destination`.
/// `scan` also looks at the rest of the body for jumps into the window; it need not be repeated for another destination.
bool hkt_relocate(const uint8_t *code, const HKTBody *body, uint64_t destination, bool scan,
                  HKTMovedWindow *moved, HKTRefusal *refusal);

/// Whether the processor keeps a second copy of return addresses for this thread.
bool hkt_shadow_stack(void);

#endif
