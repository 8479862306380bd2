// Private to this target: the lock and the books of sites.
#ifndef HKT_TRANSACTION_H
#define HKT_TRANSACTION_H

#include "patch_record.h"

/// One at a time: preparing, installing, taking out. Not for signal handlers.
void hkt_lock(void);
void hkt_unlock(void);

/// The patch of a body's address, or NULL. Reads only; safe in signal handlers.
HKTPatch *hkt_book_find(uint64_t body);
/// Enters a patch. Under the lock. False when there is no memory.
bool hkt_book_add(HKTPatch *patch);

#endif
