// HKTImages — what the dynamic loader does with images: which function a name is bound to, images that come and go.
#ifndef HKT_IMAGES_H
#define HKT_IMAGES_H

#include <stdbool.h>
#include <stdint.h>

/// The function that the loader would bind a call of a symbol of an image to now; 0 for none.
///
/// Names are looked up in the program and what is global beside it, then in the image and what it needs; in an image
/// linked with -Bsymbolic the other way round. (An image opened with RTLD_DEEPBIND looks into itself first as well, which
/// nothing tells.)
/// - path: as the loader names the image; NULL for the program itself.
/// - version: of the symbol, NULL for none.
uint64_t hkt_bound_function(const char *path, bool is_symbolic, const char *symbol, const char *version);

/// The address stands for a function of a library, but is the program's: its own way through its import table. In a program
/// that is linked to a fixed address, functions whose address it takes have one, and everyone takes that for the function.
bool hkt_is_relay(uint64_t address);

/// Keeps an image in memory for the life of the process, whoever closes it; says where it is. False when the loader does not
/// know it (any more). Waits for constructors that another thread runs: not to be called under locks of ours.
/// - bias: what is added to the file's addresses; may be NULL.
bool hkt_pin_image(const char *path, uint64_t *bias);

/// Why images that come cannot be noticed.
typedef enum HKTWatchState : int32_t {
  HKT_WATCHING = 0,
  /// The loader does not call out where it is known to (another C library, another hook engine); it may be asked instead.
  HKT_WATCH_UNKNOWN_LOADER,
  /// The loader's word could not be written.
  HKT_WATCH_NOT_WRITABLE,
} HKTWatchState;

/// Calls `changed` whenever images came or went: on the thread that opened or closed them, when the loader has let go of its
/// lock and constructors have run, before dlopen returns to its caller. Never within itself. One function per process; NULL
/// ends it.
HKTWatchState hkt_watch_images(void (*changed)(void));

/// This thread is within the opening or closing of an image: a constructor runs. Others that ask the loader wait for it. False
/// where images are not watched.
bool hkt_is_opening_image(void);

/// Grows whenever an image is loaded or unloaded.
uint64_t hkt_image_changes(void);

#endif
