// Private to this target: landing places.
#ifndef HKT_LANDING_H
#define HKT_LANDING_H

#include "HKTContain.h"
#include "../Dispatch/thread_records.h"

#include <signal.h>
#include <ucontext.h>

/// One contained call in flight; lives on the stack of hkt_contain. Keep the first two in step with contain_x86_64.S.
typedef struct HKTLanding {
  uint64_t stack;           // +0  rsp when the body is called
  uint64_t frame;           // +8  rbp
  uint32_t mxcsr;           // +16
  uint32_t x87_control;     // +20
  struct HKTLanding *up;
  HKTThread *thread;
  HKTTrap *trap;
  uint64_t scripts;         // how many handlers of scripts were at work
  HKTCall *top;
  uint32_t unseen, host, at_work, protected_count;
  uint64_t handler;
  HKTWindow *windows;
  uint64_t *accesses;       // where the Swift runtime keeps this thread's list of open accesses
  uint64_t open_accesses;   // what was there
  uint64_t deepest;         // the stack pointer at the fault
  bool has_outermost;
} HKTLanding;

HKT_HIDDEN extern uint64_t (*hkt_scripts_at_work)(void);

/// Runs the body; 0 when it returned, 1 when a fault was sent to hkt_landing.
HKT_HIDDEN int32_t hkt_land_call(HKTLanding *landing, void (*body)(void *), void *context);
/// Where a fault goes on, with rsp and rbp of the landing and rdi = HKTLanding*.
HKT_HIDDEN extern const char hkt_landing_place[];
/// What the body of a landing returns to.
HKT_HIDDEN extern const char hkt_landing_returns_here[];
HKT_HIDDEN _Noreturn void hkt_land(HKTLanding *landing);

/// What is found once for judging faults.
HKT_HIDDEN void hkt_judge_prepare(void);
/// Why a fault at the context cannot be contained; NULL: it can, and `trap` has its frames.
HKT_HIDDEN const char *hkt_judge(int signal, const siginfo_t *info, const void *context, const HKTLanding *landing, HKTTrap *trap);
/// The thread holds a lock that the frames up to the landing know of. `has_word_locks`: their code takes locks that are one word with the
/// thread's id, so that words that hold it are taken for such locks.
HKT_HIDDEN bool hkt_holds_lock(const greg_t *registers, const HKTLanding *landing, bool has_word_locks);
/// Behind the last byte of the function that the address in it belongs to; 0: not known. `start`, if not NULL: where it begins.
HKT_HIDDEN uint64_t hkt_end_of_function(uint64_t address, uint64_t *start);

/// What lies moved out of a variable that the frames up to the landing change, in words of a reason; NULL: nothing.
HKT_HIDDEN const char *hkt_moved_out(const HKTLanding *landing);

/// An array's buffer {class, references, count, capacity, elements}, up to its end.
typedef struct HKTArray {
  uint64_t low, high;
  uint64_t first;           // the first element of the array or the slice
  uint64_t class, size;     // and of its elements
  bool has_references;      // in its elements
  bool has_arrays;          // … and of them some that were noted: addresses of elements are those of variables
} HKTArray;
/// A change of a variable that is open.
typedef struct HKTChange {
  uint64_t variable;
  uint64_t record;          // where the runtime's record of it lies: in the frame that began it, mostly
} HKTChange;

enum { HKT_ARRAY_HEADER = 32, HKT_MOST_ARRAYS = 128, HKT_MOST_CHANGES = 16, HKT_VARIABLE_SIZE = 64 };

/// What the frames that would be left are changing, and what was found in them, innermost first.
typedef struct HKTChanges {
  uint32_t count, array_count;
  bool is_elsewhere;        // one of the records is not on the stack
  bool holds_array;         // an address in one of the variables or arrays was found
  bool holds_elements;      // … of elements, which are no variables
  bool holds_copy;          // the buffer of a copy of one of the arrays was found
  uint8_t sorting;          // what functions further in are sorting, of which it is not known yet whether it is being changed
  uint64_t last;            // the outermost of the records on the stack
  HKTChange changes[HKT_MOST_CHANGES];
  HKTArray arrays[HKT_MOST_ARRAYS];
} HKTChanges;

typedef struct HKTChangingFrame {
  uint64_t start, end;      // of its function; 0: not known
  uint64_t counter;
  uint64_t low, high;       // its part of the stack
  bool is_return;           // a call returns to the counter; else it is the instruction
  bool is_swift;            // the function is Swift's, of the program or
  bool is_library;          // … of the library
} HKTChangingFrame;

HKT_HIDDEN void hkt_changes_prepare(void);
HKT_HIDDEN void hkt_note_changes(HKTChanges *changes, const HKTLanding *landing, const greg_t *registers);
/// Frames are asked about innermost first.
HKT_HIDDEN bool hkt_is_amid_change(HKTChanges *changes, const HKTChangingFrame *frame);

/// What the code of the frames that would be left says of locks: of those of one word, such as a Mutex of Synchronization, and of those that are
/// in variables at fixed places.
typedef struct HKTCodeLocks {
  enum { HKT_SEEN_FUNCTIONS = 32 } room;
  uint64_t seen[HKT_SEEN_FUNCTIONS];  // functions that were read, the last one at each place
  uint32_t looked_at;                 // bytes read so far
  uint32_t references;                // places looked at that code names
  bool has_word_locks;                // some of the frames' code takes locks of one word, or not all of it was read
  bool is_held;                       // a lock at a fixed place, or in a variable there, is held by the thread
} HKTCodeLocks;
/// Reads the function of one frame, and what it calls. `end`: behind its last byte, 0 where that is not known.
HKT_HIDDEN void hkt_read_code_locks(HKTCodeLocks *locks, const HKTThread *thread, uint64_t start, uint64_t end);
/// Takes the runtime's message.
HKT_HIDDEN void hkt_take_message(HKTTrap *trap);

#endif
