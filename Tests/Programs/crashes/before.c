// Owns SIGSEGV before the program's main: a library that was loaded first.
#include <signal.h>
#include <unistd.h>

static void theirs(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)info, (void)context;
  (void)!write(1, "their handler\n", 14);
  _exit(9);
}

__attribute__((constructor)) static void begin(void) {
  struct sigaction action = {.sa_sigaction = theirs, .sa_flags = SA_SIGINFO};
  sigaction(SIGSEGV, &action, 0);
}
