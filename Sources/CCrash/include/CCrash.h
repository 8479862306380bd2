// CCrash — what happens when the program crashes.
//
// Owns: the handlers of the signals a crash raises, the stacks they run on, the
// chain to handlers of others. C alone: nothing here allocates while a crash is handled,
// and no lock is waited for that the crashed code may hold.
//
// C symbols carry the prefix ccrash_ (functions), CCrash (types).
#ifndef CCRASH_H
#define CCRASH_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "CCrashThreadStack.h"

/// Asked first about every fault, before anything is reported: true when the program can go on at the place that `context`
/// (a ucontext_t, which it may change) names. It may also leave by siglongjmp. Runs on the alternate stack of the thread, with
/// the signal mask of the crashed code, and must be async-signal-safe.
typedef bool (*CCrashRecovery)(int signal, siginfo_t *info, void *context);

/// Installs the handlers for SIGILL, SIGABRT, SIGSEGV, SIGBUS, SIGFPE and SIGTRAP, and arms the calling thread. Handlers that
/// were there before are called after ours. More than once is once. Before other threads use the library.
void ccrash_install(void);

/// Sets who is asked first; NULL for nobody. Any thread.
void ccrash_set_recovery(CCrashRecovery recovery);

/// Gives the calling thread a stack for signal handlers, without which an overflow of its own stack ends the process unreported.
/// Keeps one that the program set. False: no memory. Cheap when it is done already. Not in signal handlers.
bool ccrash_arm_thread(void);

#endif
