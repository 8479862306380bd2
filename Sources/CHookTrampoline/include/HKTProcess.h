// HKTProcess — what concerns the process as a whole: copies of it made by fork, and other copies of this library in it.
#ifndef HKT_PROCESS_H
#define HKT_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Makes this copy of the library the one that hooks functions in this process; true also when it is already. False: another
/// copy is, and `image` gets the path of the program or library it is part of. Any thread.
///
/// The mark is a page at an address that all copies know: a forked process has it, a process that executes another program
/// starts without. No name is looked up, so copies linked statically and opened RTLD_LOCAL find each other.
bool hkt_claim_process(char *image, size_t size);

/// From now on hooks are off in forked copies of this process, unless hkt_keep_in_children says otherwise. Call it early;
/// more than once is once.
void hkt_watch_forks(void);
/// Whether hooks stay on in copies forked from now on.
void hkt_keep_in_children(bool keep);
bool hkt_keeps_in_children(void);

#endif
