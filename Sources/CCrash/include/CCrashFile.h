// The crash file: one per process, mapped and shared, so that what is stored in it survives whatever ends the process.
//
// Holds who the process is, the path by which it came where it is (breadcrumbs: calls of handlers, events and logs) and, once it
// crashed, the report as lines of text. Read by ScriptHost/Guard/Crashes.
#ifndef CCRASH_FILE_H
#define CCRASH_FILE_H

#include <stddef.h>
#include <stdint.h>

#define CCRASH_MAGIC UINT64_C(0x3148534152434853)  // "SHCRASH1"

enum {
  CCRASH_OWNERS = 512,
  CCRASH_PATCHES = 64,
  CCRASH_CALLS = 256,
  CCRASH_CRUMBS = 128,
  CCRASH_CRUMB_TEXT = 208,
  CCRASH_REPORT_SIZE = 160 << 10,
};

/// CCrashFile.state
enum { CCRASH_RUNNING = 1, CCRASH_ENDED = 2, CCRASH_REPORTED = 3 };
/// CCrashCrumb.kind
enum { CCRASH_LOG = 1, CCRASH_EVENT = 2, CCRASH_FAILURE = 3, CCRASH_LOADING = 4, CCRASH_NOTE = 5 };

/// Whose a layer is: texts end with 0, and are cut.
typedef struct CCrashOwner {
  char patch[64];
  char selector[120];
  char source[268];  // a name and that of its directory
  int32_t line;
  int32_t at_work;  // the thread that runs it, of a step of the start; 0: none
  char position[16];
} CCrashOwner;

/// A patch whose text ran, as its files were when they were read.
typedef struct CCrashPatch {
  uint64_t changed;  // when they were last changed, ns since 1970
  uint32_t is_live;  // 1: it was loaded, and is there still
  char path[500];    // ends with 0
} CCrashPatch;
_Static_assert(sizeof(CCrashPatch) == 512, "no padding");

/// Calls of one handler that followed one another on a thread.
typedef struct CCrashCall {
  uint64_t time;      // CLOCK_MONOTONIC_COARSE of the first, ns
  uint32_t sequence;  // 0: not used
  uint32_t owner;     // index + 1 in `owners`
  int32_t thread;
  uint32_t count;
  uint64_t changed;   // when one of them last changed something of the program, ns; 0: none did
  uint32_t apart[8];  // one to a cache line: another thread's is written at the same time
} CCrashCall;
_Static_assert(sizeof(CCrashCall) == 64, "a cache line");

/// One thing that happened.
typedef struct CCrashCrumb {
  uint64_t time;
  uint32_t sequence;  // 0: not used, or being written
  int32_t thread;
  uint16_t kind;
  uint16_t length;
  char text[CCRASH_CRUMB_TEXT];
} CCrashCrumb;

typedef struct CCrashFile {
  uint64_t magic;
  uint32_t size;      // of this struct: another build's file is another size
  uint32_t state;
  int32_t process;
  int32_t arguments;  // how many, the program's name included
  uint64_t started_wall, started_monotonic;  // ns
  uint64_t main_monotonic;  // when patches had been loaded, ns; 0: they have not
  uint64_t process_start;  // in clock ticks since the machine's boot, as /proc/PID/stat has it; with `process` and `boot_id` names the process
  uint32_t boot_level;
  uint32_t settled;       // 1: the start was good
  uint32_t reached_main;  // 1: patches are loaded, what happens may be the program's own
  uint32_t accounted;     // 1: the boot guard of a later start has taken note
  uint32_t sequence, next_call, next_crumb, owner_count;
  uint32_t report_length;
  uint32_t patch_count;  // more than CCRASH_PATCHES: some are not in the file
  char boot_id[40];
  char build_id[64];
  char program[1024];
  CCrashOwner owners[CCRASH_OWNERS];
  CCrashPatch patches[CCRASH_PATCHES];
  char apart[52];
  CCrashCall calls[CCRASH_CALLS];  // at a multiple of 64
  CCrashCrumb crumbs[CCRASH_CRUMBS];
  char report[CCRASH_REPORT_SIZE];
} CCrashFile;
_Static_assert(offsetof(CCrashFile, calls) % 64 == 0, "the file is mapped at a page");

/// Where its arrays begin: Swift does not see those that are long.
enum {
  CCRASH_AT_ACCOUNTED = offsetof(CCrashFile, accounted),
  CCRASH_AT_BOOT_ID = offsetof(CCrashFile, boot_id),
  CCRASH_AT_BUILD_ID = offsetof(CCrashFile, build_id),
  CCRASH_AT_PROGRAM = offsetof(CCrashFile, program),
  CCRASH_AT_OWNERS = offsetof(CCrashFile, owners),
  CCRASH_AT_PATCHES = offsetof(CCrashFile, patches),
  CCRASH_AT_CALLS = offsetof(CCrashFile, calls),
  CCRASH_AT_CRUMBS = offsetof(CCrashFile, crumbs),
  CCRASH_AT_REPORT = offsetof(CCrashFile, report),
};

#endif
