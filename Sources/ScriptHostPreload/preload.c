// libscripthost_preload.so: the small door into a program.
//
// The command starts a program with LD_PRELOAD naming this file and with one
// environment variable, SCRIPTHOST_BOOT, which holds the settings. This stub
//   1. checks that the process is the one that was meant,
//   2. puts the environment back, in place, to what the program would have had,
//   3. waits until the program's own types are registered (`main` is about to run),
//   4. opens libScriptHostBoot.so and calls scripthost_boot().
//
// What must stay true:
//   - Nothing but libc is needed, and nothing Swift is opened in a process that
//     has no dynamic Swift runtime. In a process that is not meant, nothing is
//     changed at all: a wrapper passes the settings on to what it execs.
//   - Any failure is one sentence on stderr, and the program runs on unchanged.
//   - errno and the signal mask are as they were when `main` starts.
//
// Keep in step with Sources/ScriptHost/Host/BootSettings.swift: the encoding and
// the names of the keys read here.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "program_signals.h"
#include "program_threads.h"

#define EXPORTED __attribute__((visibility("default")))

typedef int (*Main)(int argc, char **argv, char **envp);
typedef int (*StartMain)(Main program, int argc, char **argv, void (*init)(void),
                         void (*fini)(void), void (*rtld_fini)(void), void *stack_end);
typedef int (*BootFunction)(const char *settings, int argc, char **argv);

static const char settings_name[] = "SCRIPTHOST_BOOT=";
static const char preload_name[] = "LD_PRELOAD=";
static const char settings_version[] = "1;";

/// The settings this process boots with, still encoded; NULL when it does not boot.
/// Written once, before any thread of the program exists.
static char *settings;
/// Room for one decoded value, as long as all settings together.
static char *scratch;
/// Whether adopt() has looked at the environment already.
static bool adopted;
/// The program's own main function.
static Main real_main;

// MARK: Words

/// Writes one sentence to stderr in one piece, so that it is not torn by other writers.
static void say(const char *sentence, const char *subject, const char *rest) {
  char line[1024];
  int length = snprintf(line, sizeof line, "scripthost: %s%s%s\n", sentence, subject, rest);
  if (length < 0) return;
  if ((size_t)length >= sizeof line) {
    length = sizeof line - 1;
    line[length - 1] = '\n';
  }
  ssize_t ignored = write(STDERR_FILENO, line, (size_t)length);
  (void)ignored;
}

// MARK: Settings

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

/// Decodes the first value of `key` into `scratch`, which the next call overwrites.
/// Returns NULL when the key is not there; a value that holds a NUL ends at it.
static const char *setting(const char *key) {
  size_t key_length = strlen(key);
  const char *p = settings + sizeof settings_version - 1;
  while (*p) {
    const char *end = strchrnul(p, ';');
    if (strncmp(p, key, key_length) == 0 && p[key_length] == '=') {
      char *out = scratch;
      for (p += key_length + 1; p < end; p++) {
        int high = -1, low = -1;
        if (*p == '%' && end - p >= 3 && (high = hex_digit(p[1])) >= 0 &&
            (low = hex_digit(p[2])) >= 0) {
          *out++ = (char)(high << 4 | low);
          p += 2;
        } else {
          *out++ = *p;
        }
      }
      *out = 0;
      return scratch;
    }
    p = *end ? end + 1 : end;
  }
  return NULL;
}

/// Whether `value` spells the device and inode of the program in this process.
static bool is_this_program(const char *value) {
  struct stat file;
  char identity[64];
  if (!value || stat("/proc/self/exe", &file) != 0) return false;
  snprintf(identity, sizeof identity, "%llu:%llu", (unsigned long long)file.st_dev,
           (unsigned long long)file.st_ino);
  return strcmp(value, identity) == 0;
}

/// Whether the settings mean this process. The path is the second chance: some
/// file systems number a file anew each time it is looked up.
static bool is_meant(bool follow) {
  if (is_this_program(setting("command"))) return false;
  if (follow || is_this_program(setting("target"))) return true;
  char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length <= 0) return false;
  path[length] = 0;
  const char *program = setting("program");
  return program && strcmp(program, path) == 0;
}

// MARK: Environment

/// Takes the pointer at `slot` out of the array, keeping the order of the others.
static void remove_variable(char **slot) {
  do slot[0] = slot[1];
  while (*slot++);
}

/// Puts LD_PRELOAD back to what the user had. The text is shortened where it
/// stands: what the user had is always shorter than what the command made of it.
static void restore_preload(char **slot) {
  const char *previous = setting("preload");
  size_t room = strlen(*slot);
  if (!previous) {
    memset(*slot, 0, room);
    remove_variable(slot);
    return;
  }
  size_t length = strlen(previous), name = sizeof preload_name - 1;
  if (name + length > room) return;
  memcpy(*slot + name, previous, length);
  memset(*slot + name + length, 0, room - name - length);
}

/// Reads the settings from the environment and, when they mean this process,
/// takes them out of it. Called before any other constructor where the loader
/// lets us, so that the program's own constructors see the true environment.
static void adopt(char **envp) {
  if (adopted || !envp) return;
  adopted = true;

  char **settings_slot = NULL, **preload_slot = NULL;
  for (char **slot = envp; *slot; slot++) {
    if (strncmp(*slot, settings_name, sizeof settings_name - 1) == 0) settings_slot = slot;
    if (strncmp(*slot, preload_name, sizeof preload_name - 1) == 0) preload_slot = slot;
  }
  if (!settings_slot) return;

  char *text = *settings_slot + sizeof settings_name - 1;
  size_t size = strlen(text) + 1;
  // Not malloc: the program's allocator may not be ready this early.
  char *memory = mmap(NULL, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    say("no memory for the settings; the program runs without patches", "", "");
    return;
  }
  settings = memcpy(memory, text, size);
  scratch = memory + size;
  if (strncmp(settings, settings_version, sizeof settings_version - 1) != 0) {
    say("the settings in SCRIPTHOST_BOOT are of another version; the program runs without patches",
        "", "");
    settings = NULL;
    return;
  }

  bool follow = setting("follow") != NULL;
  if (!is_meant(follow)) {
    settings = NULL;
    munmap(memory, 2 * size);
    return;
  }
  program_signals_begin();
  const char *descriptor = setting("close");
  if (descriptor) close(atoi(descriptor));
  if (follow) return;
  // The later of the two first, so that removing it does not move the other.
  if (preload_slot && preload_slot > settings_slot) restore_preload(preload_slot);
  memset(*settings_slot, 0, strlen(*settings_slot));
  remove_variable(settings_slot);
  if (preload_slot && preload_slot < settings_slot) restore_preload(preload_slot);
}

/// When the loader had mapped everything: CLOCK_MONOTONIC. Read by the host, for records of the start.
EXPORTED uint64_t scripthost_loader_ns;

// Linked with -z initfirst: this runs before the constructors of the libraries
// the program was linked with. `environ` is not set yet; the argument is.
__attribute__((constructor)) static void first(int argc, char **argv, char **envp) {
  (void)argc, (void)argv;
  int saved = errno;
  struct timespec now;
  if (clock_gettime(CLOCK_MONOTONIC, &now) == 0) scripthost_loader_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
  program_signals_prepare();
  program_threads_prepare();
  adopt(envp);
  errno = saved;
}

// MARK: Boot

/// The path the function at `address` was loaded from, or NULL.
static const char *file_of(void *address) {
  Dl_info info;
  return address && dladdr(address, &info) ? info.dli_fname : NULL;
}

/// Opens the host library. The loader reads '$' in a path as the start of a token; such a path
/// goes by a descriptor.
static void *open_library(const char *path) {
  if (!strchr(path, '$')) return dlopen(path, RTLD_NOW | RTLD_LOCAL);
  int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return dlopen(path, RTLD_NOW | RTLD_LOCAL);
  char name[64];
  // Spelled unlike the command spells this stub: the loader knows libraries by their names, and
  // the number may be the same.
  snprintf(name, sizeof name, "/proc/self/./fd/%d", descriptor);
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  close(descriptor);
  return library;
}

/// The host, once it was opened.
static void *host;

/// A function of the host by name, for programs that import ScriptHost; NULL where there is no host, or none of that name. Any thread.
EXPORTED void *scripthost_host_symbol(const char *name) { return host ? dlsym(host, name) : NULL; }

/// Opens the Swift part and hands it the settings.
static void boot(int argc, char **argv) {
  const char *runtime = file_of(dlsym(RTLD_DEFAULT, "swift_retain"));
  if (!runtime) {
    // Among followed children, programs that are not Swift are the normal case.
    if (!setting("follow"))
      say("'", argv[0] ? argv[0] : "", "' has no Swift runtime library; it runs without patches");
    return;
  }
  const char *name = strrchr(runtime, '/');
  if (strcmp(name ? name + 1 : runtime, "libswiftCore.so") != 0) {
    say("the Swift runtime is linked into '", runtime,
        "' itself, values cannot cross between two runtimes; it runs without patches");
    return;
  }
  const char *path = setting("boot");
  void *library = path ? open_library(path) : NULL;
  if (!library) {
    const char *reason = path ? dlerror() : "the settings name no library";
    say("the host library was not opened: ", reason ? reason : "unknown reason",
        "; the program runs without patches");
    return;
  }
  BootFunction function = (BootFunction)dlsym(library, "scripthost_boot");
  if (!function) {
    say("'", path, "' has no function 'scripthost_boot'; the program runs without patches");
    return;
  }
  function(settings, argc, argv);
  host = library;
}

/// Stands in for the program's main.
static int main_with_host(int argc, char **argv, char **envp) {
  if (settings) {
    int saved = errno;
    sigset_t mask;
    sigprocmask(SIG_SETMASK, NULL, &mask);
    boot(argc, argv);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    errno = saved;
  }
  return real_main(argc, argv, envp);
}

/// Called by the program's entry code; the way to `main`, where all constructors have run.
EXPORTED int __libc_start_main(Main program, int argc, char **argv, void (*init)(void),
                               void (*fini)(void), void (*rtld_fini)(void), void *stack_end) {
  StartMain next = (StartMain)dlsym(RTLD_NEXT, "__libc_start_main");
  if (!next) {
    say("the C library has no '__libc_start_main'; the program cannot be started", "", "");
    _exit(125);
  }
  int saved = errno;
  adopt(argv + argc + 1);
  errno = saved;
  if (!settings) return next(program, argc, argv, init, fini, rtld_fini, stack_end);
  real_main = program;
  return next(main_with_host, argc, argv, init, fini, rtld_fini, stack_end);
}
