// The alternate stacks of threads: taken at the first need of a thread, given to another one after its end, never freed.
#define _GNU_SOURCE 1
#include "internal.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

enum { STACK_SIZE = 64 << 10 };

typedef struct Stack {
  struct Stack *next_free;
  char *low;  // of the usable part; a guard page is below
} Stack;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Stack *free_stacks;
static pthread_key_t key;
static bool has_key;
static __thread bool is_armed __attribute__((tls_model("initial-exec")));

/// The record lies at the upper end of its own stack.
static Stack *make(void) {
  size_t guard = (size_t)sysconf(_SC_PAGESIZE), size = guard + STACK_SIZE;
  char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return NULL;
  if (ccrash_forbid(memory, guard) != 0) {
    munmap(memory, size);
    return NULL;
  }
  Stack *stack = (Stack *)(memory + size - sizeof(Stack));
  stack->low = memory + guard;
  return stack;
}

/// A stack that no thread has, a new one where all are taken; NULL: no memory. Any thread.
static Stack *take(void) {
  pthread_mutex_lock(&lock);
  Stack *stack = free_stacks;
  if (stack) free_stacks = stack->next_free;
  pthread_mutex_unlock(&lock);
  return stack ? stack : make();
}

/// Takes a thread's alternate stack away when the thread ends. For pthread_key_create, on that thread.
static void give_back(void *opaque) {
  Stack *stack = opaque;
  stack_t now, none = {.ss_flags = SS_DISABLE};
  // The program may have put its own in the place of ours.
  if (sigaltstack(NULL, &now) == 0 && now.ss_sp == stack->low) sigaltstack(&none, NULL);
  is_armed = false;
  pthread_mutex_lock(&lock);
  stack->next_free = free_stacks;
  free_stacks = stack;
  pthread_mutex_unlock(&lock);
}

static void forked_child(void) {
  // Another thread of the parent may have held it.
  lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

void ccrash_stacks_prepare(void) {
  if (has_key) return;
  has_key = pthread_key_create(&key, give_back) == 0;
  pthread_atfork(NULL, NULL, forked_child);
}

bool ccrash_arm_thread(void) {
  if (is_armed) return true;
  int saved = errno;
  stack_t now;
  if (sigaltstack(NULL, &now) == 0 && !(now.ss_flags & SS_DISABLE)) is_armed = true;
  Stack *stack = !is_armed && has_key ? take() : NULL;
  if (stack) {
    stack_t ours = {.ss_sp = stack->low, .ss_size = (size_t)((char *)stack - stack->low) & ~(size_t)15};
    pthread_setspecific(key, stack);
    is_armed = sigaltstack(&ours, NULL) == 0;
  }
  errno = saved;
  return is_armed;
}
