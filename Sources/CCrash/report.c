// The report of a crash: lines in the crash file, the certain facts first.
//
//   signal 4 code 2 address 0x… thread 17
//   time WALL_NS MONOTONIC_NS
//   message TEXT                     what the Swift runtime said
//   refusal TEXT                     why the fault was not contained
//   registers rip=0x… …
//   image START END OFFSET BUILD_ID PATH
//   thread 17 NAME
//   call OWNER 1|0                   a hooked call the thread is in, innermost first; 1: its handler is at work
//   frame HOW ADDRESS                p the counter, u unwound, f by frame pointer, s found on the stack, a an async function that waits
//   again SIGNAL                     a crash while this was written; what it was about is left out
//   end
#define _GNU_SOURCE 1
#include "internal.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static _Atomic(CCrashCallsOf) calls_of;
/// Where the runtime keeps the text of a fatal error.
static const char *const *message_place;
/// The thread that writes; others that crash meanwhile wait for it.
static _Atomic(int32_t) writer;

void ccrash_set_calls_of(CCrashCallsOf function) { atomic_store(&calls_of, function); }

void ccrash_report_prepare(void) {
  const char *const *(*place)(void) = (const char *const *(*)(void))dlsym(RTLD_DEFAULT, "swift_getFatalErrorMessageBuffer");
  if (place) message_place = place();
}

static CCrashFile *file;

/// Writes a name that ends where the number is to begin, and the number in hexadecimal.
static void put_pair(const char *name, uint64_t value) {
  ccrash_put(file, name);
  ccrash_put_hex(file, value);
}

/// Writes the line `registers`, from the context of the signal.
static void put_registers(const ucontext_t *context) {
  static const struct { const char *name; int index; } all[] = {
    {"rip=", REG_RIP}, {" rsp=", REG_RSP}, {" rbp=", REG_RBP}, {" rax=", REG_RAX}, {" rbx=", REG_RBX}, {" rcx=", REG_RCX},
    {" rdx=", REG_RDX}, {" rsi=", REG_RSI}, {" rdi=", REG_RDI}, {" r8=", REG_R8}, {" r9=", REG_R9}, {" r10=", REG_R10},
    {" r11=", REG_R11}, {" r12=", REG_R12}, {" r13=", REG_R13}, {" r14=", REG_R14}, {" r15=", REG_R15}};
  ccrash_put(file, "registers ");
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) put_pair(all[i].name, (uint64_t)context->uc_mcontext.gregs[all[i].index]);
  ccrash_put(file, "\n");
}

static void put_thread_name(int32_t thread) {
  char path[48] = "/proc/self/task/", digits[12], name[32];
  size_t at = strlen(path), length = 0;
  for (int32_t left = thread; left; left /= 10) digits[length++] = (char)('0' + left % 10);
  while (length) path[at++] = digits[--length];
  memcpy(path + at, "/comm", 6);
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return;
  ssize_t count = read(descriptor, name, sizeof name);
  close(descriptor);
  if (count > 1) ccrash_put_bytes(file, name, (size_t)count - 1);
}

/// Writes the lines of one thread: its name, the hooked calls it is in, its frames, innermost first.
static void put_thread(int32_t thread, const CCrashFrame *frames, int count) {
  ccrash_put(file, "thread ");
  ccrash_put_number(file, thread);
  ccrash_put(file, " ");
  put_thread_name(thread);
  ccrash_put(file, "\n");
  uint64_t pairs[2 * 32];
  CCrashCallsOf ask = atomic_load(&calls_of);
  int32_t calls = ask ? ask(thread, pairs, 32) : 0;
  for (int32_t i = 0; i < calls; i++) {
    uint32_t owner = ccrash_owner_of(pairs[2 * i]);
    if (!owner) continue;
    ccrash_put(file, "call ");
    ccrash_put_number(file, owner);
    ccrash_put(file, pairs[2 * i + 1] ? " 1\n" : " 0\n");
  }
  for (int i = 0; i < count; i++) {
    char how[] = "frame ? ";
    how[6] = frames[i].how;
    ccrash_put(file, how);
    ccrash_put_hex(file, frames[i].counter);
    ccrash_put(file, "\n");
  }
}

static void put_time(void) {
  struct timespec wall, monotonic;
  clock_gettime(CLOCK_REALTIME, &wall);
  clock_gettime(CLOCK_MONOTONIC, &monotonic);
  ccrash_put(file, "time ");
  ccrash_put_number(file, (int64_t)wall.tv_sec * 1000000000 + wall.tv_nsec);
  ccrash_put(file, " ");
  ccrash_put_number(file, (int64_t)monotonic.tv_sec * 1000000000 + monotonic.tv_nsec);
  ccrash_put(file, "\n");
}

static void put_message(void) {
  uint64_t text = 0;
  if (!message_place || !ccrash_read((uint64_t)message_place, &text, sizeof text) || !text) return;
  ccrash_put(file, "message ");
  ccrash_put_unchecked_text(file, text, 2048);
  ccrash_put(file, "\n");
}

static void put_refusal(void) {
  const char *text = ccrash_refusal();
  if (!text) return;
  ccrash_put(file, "refusal ");
  ccrash_put(file, text);
  ccrash_put(file, "\n");
}

/// What a report is made of, in its order: a crash while one is written goes on with the next.
enum Part { HEAD, TIME, MESSAGE, REFUSAL, REGISTERS, IMAGES, OWN_STACK, OTHER_STACKS, END, PARTS };

/// Writes the line that every report has, and marks the file as reported: from here on the crash is certain, whatever the rest meets.
static void put_head(int signal, const siginfo_t *info, int32_t thread) {
  ccrash_begin_lines(file);
  ccrash_put(file, "signal ");
  ccrash_put_number(file, signal);
  ccrash_put(file, " code ");
  ccrash_put_number(file, info->si_code);
  put_pair(" address ", info->si_code > 0 ? (uint64_t)info->si_addr : 0);
  ccrash_put(file, " thread ");
  ccrash_put_number(file, thread);
  ccrash_put(file, "\n");
  __atomic_store_n(&file->state, CCRASH_REPORTED, __ATOMIC_RELEASE);
}

/// Writes one part of the report. A fault in it is caught by write_report, which goes on with the next one.
static void put_part(int part, int signal, const siginfo_t *info, const void *context, bool with_others) {
  enum { FRAMES = 128 };
  static CCrashFrame frames[FRAMES];
  int32_t me = (int32_t)syscall(SYS_gettid);
  switch (part) {
    case HEAD: put_head(signal, info, me); break;
    case TIME: put_time(); break;
    case MESSAGE: put_message(); break;
    case REFUSAL: put_refusal(); break;
    case REGISTERS: put_registers(context); break;
    case IMAGES: ccrash_list_images(file); break;
    case OWN_STACK: put_thread(me, frames, ccrash_walk(context, frames, FRAMES, true)); break;
    case OTHER_STACKS: if (with_others) ccrash_ask_others(put_thread); break;
    case END: ccrash_put(file, "end\n"); break;
    default: break;
  }
}

/// Where the writer goes on after a crash of its own. Valid while it writes.
static sigjmp_buf next_part;
static volatile int crashes;

/// Writes the report part by part; a part that crashes itself is left out from where it crashed.
static void write_report(int signal, const siginfo_t *info, const void *context, bool with_others) {
  static volatile int part;
  part = HEAD;
  crashes = 0;
  // The handler defers no signal: there is no mask to go back to.
  (void)sigsetjmp(next_part, 0);
  while (part < PARTS) {
    int now = part;
    part = now + 1;
    put_part(now, signal, info, context, with_others);
  }
}

/// A crash while this thread writes: the rest of the report is written, and the process ends by the signal that came first.
static _Noreturn void go_on(int signal) {
  // Where writing itself is what crashes, it is not tried for ever.
  if (crashes++ < 2) {
    ccrash_put(file, "\nagain ");
    ccrash_put_number(file, signal);
    ccrash_put(file, "\n");
  }
  siglongjmp(next_part, 1);
}

void ccrash_report(int signal, const siginfo_t *info, const void *context, bool with_others) {
  CCrashFile *now = atomic_load(&ccrash_file);
  if (!now || now->process != getpid()) return;
  int32_t me = (int32_t)syscall(SYS_gettid), nobody = 0;
  if (!atomic_compare_exchange_strong(&writer, &nobody, me)) {
    if (nobody == me) go_on(signal);
    for (int waited = 0; atomic_load(&writer) && waited < 3000; waited++) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return;
  }
  // A fault that a handler of the program's did not end is met again when its instruction is; the first report of it stands.
  static uint64_t last;
  uint64_t counter = (uint64_t)((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
  if (now->state != CCRASH_REPORTED || last != counter) {
    file = now;
    last = counter;
    write_report(signal, info, context, with_others);
  }
  atomic_store(&writer, 0);
}
