// The one file that writes code.
//
// Code is written through /proc/self/mem: the kernel copies the page and keeps
// its protection, so there is no moment at which the page is not executable, and
// nothing needs write permission. This works under memory-deny-write-execute,
// where mprotect would leave the page non-executable for ever.
//
// The descriptor is opened once and checked before every transaction: a program
// may close it and its number may name another file, and after fork it names the
// parent's memory.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "code_memory.h"
#include "relocate.h"
#include "stub_space.h"
#include "transaction.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

int hkt_probe_subject(void);

// MARK: The descriptor

static struct {
  int fd;          // -1: not open
  pid_t process;   // whose memory it is
  dev_t device;
  ino_t inode;
  bool tried;      // the probe ran in this process, with this descriptor
} memory = {.fd = -1};

/// High descriptor numbers stay out of the way of programs that count on low ones.
#define DESCRIPTOR_FLOOR 200

static bool still_ours(void) {
  struct stat s;
  return memory.fd >= 0 && memory.process == getpid() && fstat(memory.fd, &s) == 0 && s.st_dev == memory.device &&
         s.st_ino == memory.inode;
}

/// Refuses because code could not be written; false, for the caller to return.

/// - error: of the kernel.
static bool refuse_write(uint64_t address, int error, HKTRefusal *refusal) {
  return hkt_refuse(refusal, (HKTRefusal){.reason = HKT_CODE_NOT_WRITABLE, .error = error, .address = address});
}

/// A second descriptor with a high number, where few files may be open one of the last; -1: there is none.
static int high_descriptor(int fd) {
  enum { FEWEST = 16 };
  int high = fcntl(fd, F_DUPFD_CLOEXEC, DESCRIPTOR_FLOOR);
  struct rlimit limit;
  if (high >= 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur < FEWEST) return high;
  return fcntl(fd, F_DUPFD_CLOEXEC, (int)(limit.rlim_cur - limit.rlim_cur / 4));
}

/// Opens the process's memory for writing, by a descriptor that programs do not use. false: refused.
static bool reopen(HKTRefusal *refusal) {
  // Not closed: the number may be another file's by now. A forked copy's own descriptor is closed.
  struct stat s;
  if (memory.fd >= 0 && fstat(memory.fd, &s) == 0 && s.st_dev == memory.device && s.st_ino == memory.inode) close(memory.fd);
  memory.fd = -1;
  int fd = hkt_system.open_code("/proc/self/mem", O_RDWR | O_CLOEXEC);
  if (fd < 0) return refuse_write(0, errno, refusal);
  int high = high_descriptor(fd);
  if (high >= 0) {
    close(fd);
    fd = high;
  }
  if (fstat(fd, &s) != 0) {
    int error = errno;
    close(fd);
    return refuse_write(0, error, refusal);
  }
  memory.fd = fd;
  memory.process = getpid();
  memory.device = s.st_dev;
  memory.inode = s.st_ino;
  memory.tried = false;
  return true;
}

/// A byte that the kernel clears in a forked copy, however it was made. NULL where it cannot.
static volatile uint8_t *make_mark(void) {
  void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return NULL;
  if (madvise(page, 4096, MADV_WIPEONFORK) == 0) return page;
  munmap(page, 4096);
  return NULL;
}

bool hkt_is_forked_copy(void) {
  static pid_t process;
  static volatile uint8_t *mark;
  if (mark && *mark) return false;
  if (!process) mark = make_mark();
  pid_t now = getpid();
  bool forked = process && process != now;
  process = now;
  if (mark) *mark = 1;
  return forked;
}

// MARK: Writing

bool hkt_code_write(uint64_t address, const void *bytes, size_t count, HKTRefusal *refusal) {
  size_t done = 0;
  while (done < count) {
    ssize_t n = hkt_system.write_code(memory.fd, (const char *)bytes + done, count - done, (off_t)(address + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return refuse_write(address + done, n < 0 ? errno : EIO, refusal);
    done += (size_t)n;
  }
  return true;
}

/// The subject answers `answer` after its immediate was overwritten with it.
static bool try_answer(int answer, HKTRefusal *refusal) {
  uint64_t immediate = (uint64_t)(uintptr_t)hkt_probe_subject + 1;  // behind the opcode of mov eax, imm32
  uint8_t byte = (uint8_t)answer;
  if (!hkt_code_write(immediate, &byte, 1, refusal)) return false;
  __builtin_ia32_pause();
  // Called through a volatile pointer: the compiler must not assume what the code says.
  int (*volatile subject)(void) = hkt_probe_subject;
  return subject() == answer || refuse_write(immediate, 0, refusal);
}

bool hkt_code_open(HKTRefusal *refusal) {
  if (!still_ours() && !reopen(refusal)) return false;
  if (memory.tried) return true;
  if (!try_answer(2, refusal) || !try_answer(1, refusal)) return false;
  memory.tried = true;
  return true;
}
