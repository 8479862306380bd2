// The lines of a report: numbers and texts put into the mapped file, without a call that a signal handler must not make.
#define _GNU_SOURCE 1
#include "internal.h"

#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

bool ccrash_read(uint64_t address, void *to, size_t count) {
  struct iovec local = {to, count}, remote = {(void *)address, count};
  return syscall(SYS_process_vm_readv, getpid(), &local, 1ul, &remote, 1ul, 0ul) == (long)count;
}

void ccrash_begin_lines(CCrashFile *file) { __atomic_store_n(&file->report_length, 0, __ATOMIC_RELEASE); }

void ccrash_put_bytes(CCrashFile *file, const char *bytes, size_t length) {
  uint32_t at = file->report_length;
  if (length > CCRASH_REPORT_SIZE - at) length = CCRASH_REPORT_SIZE - at;
  memcpy(file->report + at, bytes, length);
  // What is counted is there, whenever the process ends.
  __atomic_store_n(&file->report_length, at + (uint32_t)length, __ATOMIC_RELEASE);
}

void ccrash_put(CCrashFile *file, const char *text) { ccrash_put_bytes(file, text, strlen(text)); }

void ccrash_put_number(CCrashFile *file, int64_t value) {
  char digits[24], *at = digits + sizeof digits;
  uint64_t left = value < 0 ? -(uint64_t)value : (uint64_t)value;
  do *--at = (char)('0' + left % 10); while (left /= 10);
  if (value < 0) *--at = '-';
  ccrash_put_bytes(file, at, (size_t)(digits + sizeof digits - at));
}

void ccrash_put_hex(CCrashFile *file, uint64_t value) {
  char digits[20], *at = digits + sizeof digits;
  do *--at = "0123456789abcdef"[value & 15]; while (value >>= 4);
  *--at = 'x';
  *--at = '0';
  ccrash_put_bytes(file, at, (size_t)(digits + sizeof digits - at));
}

/// Text of the program's, on one line.
void ccrash_put_unchecked_text(CCrashFile *file, uint64_t address, size_t most) {
  char piece[64];
  for (size_t done = 0; done < most; done += sizeof piece) {
    // Whole pieces only: what ends at the end of a page is read byte by byte.
    size_t count = sizeof piece;
    if (!ccrash_read(address + done, piece, count)) {
      for (count = 0; count < sizeof piece && ccrash_read(address + done + count, piece + count, 1) && piece[count]; count++) {}
      if (count < sizeof piece) piece[count] = 0;
    }
    size_t length = strnlen(piece, count);
    for (size_t i = 0; i < length; i++)
      if (piece[i] == '\n') ccrash_put(file, done + i + 1 < most ? " / " : ""); else ccrash_put_bytes(file, piece + i, 1);
    if (length < sizeof piece) return;
  }
}
