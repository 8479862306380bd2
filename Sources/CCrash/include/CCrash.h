// CCrash — what happens when the program crashes.
//
// Owns: the handlers of the signals a crash raises, the stacks they run on, the
// chain to handlers of others. C alone: nothing here allocates while a crash is handled,
// and no lock is waited for that the crashed code may hold.
//
// C symbols carry the prefix ccrash_ (functions), CCrash (types).
#ifndef CCRASH_H
#define CCRASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "CCrashEndings.h"
#include "CCrashFile.h"
#include "CCrashThreadStack.h"

/// Asked first about every fault, before anything is reported: true when the program can go on at the place that `context`
/// (a ucontext_t, which it may change) names; `info` is a siginfo_t. It may also leave by siglongjmp. Runs on the alternate stack of the thread, with
/// the signal mask of the crashed code, and must be async-signal-safe.
typedef bool (*CCrashRecovery)(int signal, void *info, void *context);

/// Installs the handlers for SIGILL, SIGABRT, SIGSEGV, SIGBUS, SIGFPE and SIGTRAP, and arms the calling thread. Handlers that
/// were there before are called after ours. More than once is once. Before other threads use the library.
void ccrash_install(void);

/// Sets who is asked first; NULL for nobody. Any thread.
void ccrash_set_recovery(CCrashRecovery recovery);

/// Sets who is asked before of a SIGBUS: true, where what lies at the address can be read and written now. Any thread.
typedef bool (*CCrashMender)(uint64_t address);
void ccrash_set_mender(CCrashMender mender);

/// Sets who tells why the recovery let the fault pass, for the report; it answers NULL for nothing to tell. Runs in the signal handler,
/// behind the recovery.
void ccrash_set_refusal(const char *(*refusal)(void));

/// The action (a struct sigaction) in the place of the default one that the program asks for, or of ignoring the signal: it reports, and
/// ends the process as that would. NULL for a signal of which nothing is reported. Async-signal-safe.
const void *ccrash_stand_in(int signal, bool is_ignored);

/// What becomes of a signal that the program may have blocked.
enum { CCRASH_COMES = 0, CCRASH_WAITS = 1, CCRASH_ENDS = 2 };
/// Sets who tells that; `info` and `context` as above. WAITS: it was sent, and is held back. ENDS: a fault, by which the process ends whoever
/// handles it. Runs in the signal handler.
typedef int (*CCrashBlocked)(int signal, void *info, void *context);
void ccrash_set_blocked(CCrashBlocked blocked);

/// Gives the calling thread a stack for signal handlers, without which an overflow of its own stack ends the process unreported.
/// Keeps one that the program set. False: no memory. Cheap when it is done already. Not in signal handlers.
bool ccrash_arm_thread(void);

// MARK: The crash file

/// Makes the file (it must not be there yet), allocates all of it and maps it. 0 or an errno; then nothing is written anywhere.
/// Once per process, before other threads use the library. A forked child writes no more to it.
int ccrash_open(const char *path, const char *program, const char *build_id, const char *boot_id, int32_t arguments);
/// Where the file is mapped, and how many bytes; NULL where there is none. Any thread.
const void *ccrash_memory(size_t *size);
/// The process ends as it wanted: the file says so and is removed.
void ccrash_end(void);
/// The start was good: a crash from now on is none of a start's. Any thread.
void ccrash_settle(void);
/// The host has loaded what it loads before `main`.
void ccrash_reach_main(void);
/// How many things the boot guard took out (0 to 3), for the report.
void ccrash_set_boot_level(uint32_t level);

/// Notes a patch whose text is about to run, and when its files were last changed; answers its number, 0 when there is no file or no
/// room.
uint32_t ccrash_add_patch(const char *path, uint64_t changed);
/// Says of a patch that it was loaded, or is there no more. Any thread.
void ccrash_set_live(uint32_t patch, bool is_live);

/// Names an owner of layers; answers its number, 0 when there is no file or no room. The texts are copied.
uint32_t ccrash_add_owner(const char *patch, const char *selector, const char *position, const char *source, int32_t line);
/// Says that layers with this context are the owner's. Contexts may be given again to another owner. Any thread.
void ccrash_own(const void *context, uint32_t owner);
/// Notes that a handler of the owner begins. No system call, no lock. Any thread.
void ccrash_note_call(uint32_t owner);
/// Notes that the calling thread begins or ends a step of the start, which is the owner's.
void ccrash_begin_step(uint32_t owner);
void ccrash_end_step(uint32_t owner);
/// Notes that a handler of the owner has changed something of the program: an argument, an outcome, a property. As above.
void ccrash_note_change(uint32_t owner);
/// Notes one thing that happened (CCRASH_LOG and so on); the text is cut. No system call, no lock. Any thread.
void ccrash_note(uint32_t kind, const char *text, size_t length);

/// Tells the hooked calls a thread is in, innermost first: pairs of a layer's context and 1 when its handler is at work, 0 when the
/// call is further in. Answers how many pairs. Runs in signal handlers; must be async-signal-safe.
typedef int32_t (*CCrashCallsOf)(int32_t thread, uint64_t *pairs, int32_t room);
void ccrash_set_calls_of(CCrashCallsOf function);

#endif
