// The threads of this process, from /proc/self/task: no allocation, no libc state.
#define _GNU_SOURCE
#include "threads.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "HKTPatching.h"

// MARK: The list

typedef struct Entry {
  uint64_t inode, offset;
  uint16_t length;
  uint8_t type;
  char name[];
} Entry;

/// The decimal number that the text begins with.
static int32_t number(const char *digits) {
  int32_t n = 0;
  for (; *digits >= '0' && *digits <= '9'; digits++) n = n * 10 + (*digits - '0');
  return n;
}

bool hkt_each_thread(bool (*visit)(int32_t, void *), void *context) {
  int fd = hkt_system.open_code("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return false;
  char buffer[8192] __attribute__((aligned(8)));
  long n;
  bool more = true;
  while (more && (n = syscall(SYS_getdents64, fd, buffer, sizeof buffer)) > 0) {
    for (long at = 0; more && at < n;) {
      const Entry *e = (const Entry *)(buffer + at);
      if (e->name[0] != '.') more = visit(number(e->name), context);
      at += e->length;
    }
  }
  int error = more && n < 0 ? errno : 0;
  close(fd);
  errno = error;
  return error == 0;
}

static bool count_one(int32_t thread, void *context) {
  (void)thread;
  ++*(int *)context;
  return true;
}

int hkt_thread_count(void) {
  int count = 0;
  return hkt_each_thread(count_one, &count) ? count : -1;
}

// MARK: One thread

/// Reads /proc/self/task/THREAD/FILE as a string. False when there is none.
static bool read_file(int32_t thread, const char *file, char *text, size_t size) {
  char path[64] = "/proc/self/task/", digits[12];
  size_t at = strlen(path), d = sizeof digits;
  do digits[--d] = (char)('0' + thread % 10); while (thread /= 10);
  memcpy(path + at, digits + d, sizeof digits - d);
  at += sizeof digits - d;
  path[at++] = '/';
  strcpy(path + at, file);
  int fd = hkt_system.open_code(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t n = read(fd, text, size - 1);
  close(fd);
  text[n > 0 ? n : 0] = 0;
  return n > 0;
}

/// The text behind `key` at the start of a line, "" when there is none.
static const char *field(const char *text, const char *key) {
  for (const char *line = text; line; line = strchr(line, '\n')) {
    if (*line == '\n') line++;
    size_t n = strlen(key);
    if (strncmp(line, key, n) == 0) {
      for (line += n; *line == '\t' || *line == ' ';) line++;
      return line;
    }
  }
  return "";
}

/// The hexadecimal number that the text begins with, with or without 0x.
static uint64_t hexadecimal(const char *s) {
  uint64_t v = 0;
  if (s[0] == '0' && s[1] == 'x') s += 2;
  for (;; s++) {
    if (*s >= '0' && *s <= '9') v = v << 4 | (uint64_t)(*s - '0');
    else if (*s >= 'a' && *s <= 'f') v = v << 4 | (uint64_t)(*s - 'a' + 10);
    else return v;
  }
}

bool hkt_thread_status(int32_t thread, HKTThreadStatus *status) {
  char text[4096];
  *status = (HKTThreadStatus){0};
  if (!read_file(thread, "status", text, sizeof text)) return false;
  const char *name = field(text, "Name:");
  for (size_t i = 0; i + 1 < sizeof status->name && name[i] && name[i] != '\n'; i++) status->name[i] = name[i];
  status->state = *field(text, "State:");
  status->blocked = hexadecimal(field(text, "SigBlk:"));
  status->switches = (uint64_t)number(field(text, "voluntary_ctxt_switches:")) +
                     (uint64_t)number(field(text, "nonvoluntary_ctxt_switches:"));
  return true;
}

bool hkt_thread_parked_at(int32_t thread, uint64_t *counter) {
  char text[256];
  // "running", or "NUMBER ARGUMENTS… STACK COUNTER", or "-1 STACK COUNTER"
  if (!read_file(thread, "syscall", text, sizeof text)) return false;
  const char *last = strrchr(text, ' ');
  if (!last) return false;
  *counter = hexadecimal(last + 1);
  return *counter != 0;
}

uint64_t hkt_thread_birth(int32_t thread) {
  char text[512];
  if (!read_file(thread, "stat", text, sizeof text)) return 0;
  // Behind the name, which may hold anything: the 22nd field, the 20th behind the parenthesis.
  const char *at = strrchr(text, ')');
  for (int field = 0; at && field < 20; field++) {
    at = strchr(at + 1, ' ');
  }
  uint64_t ticks = 0;
  if (at)
    for (at++; *at >= '0' && *at <= '9'; at++) ticks = ticks * 10 + (uint64_t)(*at - '0');
  return ticks;
}

uint64_t hkt_ticks_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_BOOTTIME, &t);
  uint64_t per_second = (uint64_t)sysconf(_SC_CLK_TCK);
  return (uint64_t)t.tv_sec * per_second + (uint64_t)t.tv_nsec * per_second / 1000000000ull;
}
