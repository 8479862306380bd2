// The images of a process: ranges that are executable, and the build-ids that lie in memory.
//
// /proc/self/maps and not the loader's list: the loader's lock may be held by the code that crashed.
#define _GNU_SOURCE 1
#include "internal.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { RANGES = 512 };
static struct { uint64_t start, end; } ranges[RANGES];
static uint32_t range_count;

/// The hexadecimal number that begins at `*at`, which is behind it afterwards; 0 where there is no digit.
static uint64_t hex(const char **at) {
  uint64_t value = 0;
  for (;; (*at)++) {
    char c = **at;
    if (c >= '0' && c <= '9') value = value << 4 | (uint64_t)(c - '0');
    else if (c >= 'a' && c <= 'f') value = value << 4 | (uint64_t)(c - 'a' + 10);
    else return value;
  }
}

/// Writes the build-id that the notes from `address` on hold, as digits; nothing where there is none, or they cannot be read.
static void put_notes(CCrashFile *file, uint64_t address, uint64_t size) {
  uint64_t end = address + size;
  while (address + 16 <= end) {
    struct { uint32_t name, description, type; char text[4]; } note;
    if (!ccrash_read(address, &note, sizeof note)) return;
    if (note.type == NT_GNU_BUILD_ID && note.name == 4 && memcmp(note.text, "GNU", 4) == 0 && note.description <= 64) {
      uint8_t bytes[64];
      if (!ccrash_read(address + 16, bytes, note.description)) return;
      for (uint32_t i = 0; i < note.description; i++) {
        char digits[2] = {"0123456789abcdef"[bytes[i] >> 4], "0123456789abcdef"[bytes[i] & 15]};
        ccrash_put_bytes(file, digits, 2);
      }
      return;
    }
    address += 12 + ((note.name + 3) & ~3u) + ((note.description + 3) & ~3u);
  }
}

/// The build-id of the image that is mapped from its file's start at `base`; "-" where there is none.
static void put_build_id(CCrashFile *file, uint64_t base) {
  Elf64_Ehdr header;
  uint32_t before = file->report_length;
  if (base && ccrash_read(base, &header, sizeof header) && memcmp(header.e_ident, ELFMAG, SELFMAG) == 0) {
    for (uint32_t i = 0; i < header.e_phnum && i < 64 && file->report_length == before; i++) {
      Elf64_Phdr part;
      if (!ccrash_read(base + header.e_phoff + i * sizeof part, &part, sizeof part)) break;
      if (part.p_type == PT_NOTE) put_notes(file, base + part.p_vaddr, part.p_memsz);
    }
  }
  if (file->report_length == before) ccrash_put(file, "-");
}

static char base_path[512];
static uint64_t base_address;

/// Takes one line of /proc/self/maps: keeps where code lies, and writes a line of the report for it.

/// - file: NULL: nothing is written.
static void note_line(CCrashFile *file, const char *line) {
  const char *at = line;
  uint64_t start = hex(&at);
  at++;
  uint64_t end = hex(&at);
  const char *rights = at + 1;
  at = rights + 5;
  uint64_t offset = hex(&at);
  const char *path = strpbrk(line, "/[");
  if (path && *path == '/' && offset == 0) {
    base_address = start;
    strncpy(base_path, path, sizeof base_path - 1);
  }
  if (rights[2] != 'x') return;
  if (range_count < RANGES) {
    ranges[range_count].start = start;
    ranges[range_count++].end = end;
  }
  if (!file || !path || *path != '/') return;
  uint64_t base = strncmp(base_path, path, sizeof base_path - 1) == 0 ? base_address : 0;
  ccrash_put(file, "image ");
  ccrash_put_hex(file, start);
  ccrash_put(file, " ");
  ccrash_put_hex(file, end);
  ccrash_put(file, " ");
  ccrash_put_hex(file, offset);
  ccrash_put(file, " ");
  put_build_id(file, base);
  ccrash_put(file, " ");
  ccrash_put(file, path);
  ccrash_put(file, "\n");
}

void ccrash_list_images(CCrashFile *file) {
  static char line[1024], piece[2048];
  size_t length = 0;
  int descriptor = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return;
  range_count = 0;
  ssize_t count;
  while ((count = read(descriptor, piece, sizeof piece)) > 0)
    for (ssize_t i = 0; i < count; i++) {
      if (piece[i] != '\n') {
        if (length < sizeof line - 1) line[length++] = piece[i];
        continue;
      }
      line[length] = 0;
      length = 0;
      note_line(file, line);
    }
  close(descriptor);
}

bool ccrash_is_code(uint64_t address) {
  for (uint32_t i = 0; i < range_count; i++)
    if (address >= ranges[i].start && address < ranges[i].end) return true;
  return false;
}
