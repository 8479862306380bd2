// Calls of C functions by a library, one function for each.
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int cases_home(void) { return getenv("HOME") != NULL; }
int cases_parent(void) { return getppid(); }
int cases_user(void) { return (int)getuid(); }
int cases_group(void) { return (int)getegid(); }
int cases_seven(void) { return 7; }

int cases_allocate(void) {
  int count = 0;
  for (int i = 0; i < 10; i++) {
    // The compiler must not know that nobody looks at the block.
    void *volatile block = malloc(100);
    count += block != NULL;
    free(block);
  }
  return count;
}

int cases_open(void) {
  errno = 77;
  int file = open("/no/such/file", O_RDONLY);
  return file < 0 ? errno : -1;
}

int cases_sub(void) {
  // Beside nobody but this library's own path leads there.
  void *library = dlopen("libsub.so", RTLD_NOW);
  int (*five)(void) = library ? (int (*)(void))dlsym(library, "sub_five") : NULL;
  return five ? five() : -1;
}

int cases_jump(void) {
  static jmp_buf place;
  volatile int times = 0;
  int came = setjmp(place);
  times++;
  if (came < 2) longjmp(place, came + 1);
  return times;
}

int cases_vfork(void) {
  pid_t child = vfork();
  if (child == 0) _exit(4);
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int cases_fork(void) {
  pid_t child = fork();
  if (child == 0) _exit(cases_home());
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
