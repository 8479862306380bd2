// HKTChild — runs a program in a child of this process and waits for its end, unnoticed by the program around it.
#ifndef HKT_CHILD_H
#define HKT_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Descriptors of the child. 0 and 1 are /dev/null, 2 is read by the caller, and there are no others.
enum {
  HKT_CHILD_ANSWER = 3,  // what it writes there the caller gets
  HKT_CHILD_FILE = 4,    // the file `file` names, for reading
};

typedef struct HKTChild {
  const char *path;
  char *const *arguments;    // ends with NULL
  char *const *environment;  // ends with NULL
  const char *file;          // NULL for none
  uint64_t limit;            // nanoseconds until it is killed
} HKTChild;

typedef struct HKTChildEnd {
  int32_t error;   // errno of what kept it from being started; 0: it ran
  int32_t status;  // as waitpid tells it
  bool is_late;    // it was killed at the limit
  char *answer;    // buffers of the caller, at least 1 KiB; of more than fits the first part is left out
  size_t answer_room, answer_length;
  char *said;      // its stderr
  size_t said_room, said_length;
} HKTChildEnd;

/// Starts it in a session of its own, with no signal blocked, and comes back when it has ended; it and what it started is killed at the
/// limit, or when this process ends. The program gets no SIGCHLD and cannot take its status: a process in between is the parent.
/// The calling thread must have descriptors of its own (hkt_unshare_descriptors) and no work of the program to do meanwhile.
void hkt_run_child(const HKTChild *child, HKTChildEnd *end);

/// In the child, as early as it can: no core files, its end with its parent's, and HKT_CHILD_ANSWER is not inherited.
void hkt_become_child(void);

#endif
