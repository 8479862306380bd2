// Private to this target: names of functions, from the files of their images.
#ifndef HKT_SYMBOL_FILES_H
#define HKT_SYMBOL_FILES_H

#include <stdint.h>

/// What `judge` says of the names of the function that begins at the address: the highest, for it may have several. 0: its file has none for it,
/// or is another by now. Names longer than 400 bytes are cut. Runs in signal handlers.
__attribute__((visibility("hidden"))) int hkt_judge_names(uint64_t start, int (*judge)(const char *name));

#endif
