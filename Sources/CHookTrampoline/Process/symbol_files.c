// Names of functions at the time of a fault, read from the file of the image: what only the file has is in no memory.
//
// Runs in signal handlers: system calls and the stack alone.
#define _GNU_SOURCE 1
#include "symbol_files.h"

#include "HKTPeek.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

extern int _dl_find_object(void *, struct dl_find_object *) __attribute__((weak));

typedef struct Search {
  int fd;
  uint64_t value;               // of the symbol: the function's address in the file
  int (*judge)(const char *name);
} Search;

/// Reads all `size` bytes at an offset of the file; false: there are not so many.
static bool read_at(int fd, uint64_t offset, void *to, size_t size) { return pread(fd, to, size, (off_t)offset) == (ssize_t)size; }

/// What is said of a name, by its offset in the table of texts; 0 where it cannot be read.
static int judge(const Search *s, const Elf64_Shdr *texts, uint32_t name) {
  char text[400];
  ssize_t got = pread(s->fd, text, sizeof text - 1, (off_t)(texts->sh_offset + name));
  if (got <= 0 || !text[0]) return 0;
  text[got] = 0;
  return s->judge(text);
}

/// The highest that is said of the names that one symbol table has for the function.
static int search_table(const Search *s, const Elf64_Shdr *symbols, const Elf64_Shdr *texts) {
  enum { AT_ONCE = 32 };
  Elf64_Sym some[AT_ONCE];
  int found = 0;
  uint64_t count = symbols->sh_size / sizeof *some;
  for (uint64_t done = 0; done < count; done += AT_ONCE) {
    uint64_t now = count - done < AT_ONCE ? count - done : AT_ONCE;
    if (!read_at(s->fd, symbols->sh_offset + done * sizeof *some, some, now * sizeof *some)) return found;
    for (uint64_t i = 0; i < now; i++) {
      if (some[i].st_value != s->value || ELF64_ST_TYPE(some[i].st_info) != STT_FUNC || some[i].st_shndx == SHN_UNDEF) continue;
      int this = judge(s, texts, some[i].st_name);
      if (this > found) found = this;
    }
  }
  return found;
}

/// The file is that of the image: what it begins with, up to the build-id mostly, is in memory.
static bool is_same(int fd, uint64_t image) {
  enum { LOOKED_AT = 640, AT_ONCE = 64 };
  uint8_t in_file[AT_ONCE], in_memory[AT_ONCE];
  for (uint64_t done = 0; done < LOOKED_AT; done += AT_ONCE)
    if (!read_at(fd, done, in_file, AT_ONCE) || !hkt_peek(image + done, in_memory, AT_ONCE) || memcmp(in_file, in_memory, AT_ONCE) != 0) return false;
  return true;
}

/// The highest that is said of the names that the file has for the function.
static int search(const Search *s) {
  Elf64_Ehdr header;
  if (!read_at(s->fd, 0, &header, sizeof header) || header.e_shentsize != sizeof(Elf64_Shdr)) return 0;
  int found = 0;
  for (uint32_t i = 0; i < header.e_shnum; i++) {
    Elf64_Shdr symbols, texts;
    if (!read_at(s->fd, header.e_shoff + i * sizeof symbols, &symbols, sizeof symbols)) return found;
    if (symbols.sh_type != SHT_SYMTAB && symbols.sh_type != SHT_DYNSYM) continue;
    if (!read_at(s->fd, header.e_shoff + symbols.sh_link * sizeof texts, &texts, sizeof texts)) return found;
    int this = search_table(s, &symbols, &texts);
    if (this > found) found = this;
  }
  return found;
}

int hkt_judge_names(uint64_t start, int (*judge)(const char *name)) {
  struct dl_find_object image;
  if (!_dl_find_object || _dl_find_object((void *)start, &image) != 0 || !image.dlfo_link_map) return 0;
  const char *path = image.dlfo_link_map->l_name;
  Search s = {open(path && *path ? path : "/proc/self/exe", O_RDONLY | O_CLOEXEC), start - image.dlfo_link_map->l_addr, judge};
  if (s.fd < 0) return 0;
  int found = is_same(s.fd, (uint64_t)image.dlfo_map_start) ? search(&s) : 0;
  close(s.fd);
  return found;
}
