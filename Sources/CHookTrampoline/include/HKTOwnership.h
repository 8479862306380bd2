// HKTOwnership — whether a method gives back the reference to its self that it was given, or uses it up.
//
// Nothing in a name tells a `consuming` method of a class. Its code does: it releases its self once more often than it
// retains it, or hands it on. The others leave the count as it was.
#ifndef HKT_OWNERSHIP_H
#define HKT_OWNERSHIP_H

#include "HKTFlow.h"

/// What a function does with what it is passed.
typedef enum HKTCalleeKind {
  HKT_CALLEE_UNKNOWN,
  /// May take over what it is passed, or keep it with a reference that our code consumes.
  HKT_CALLEE_FOREIGN,
  /// Takes over what `takes` says, and nothing else.
  HKT_CALLEE_KNOWN,
  /// swift_retain, swift_release and their like: an object in rdi.
  HKT_CALLEE_RETAINS,
  HKT_CALLEE_RELEASES,
  /// Retains self as often as a register says.
  HKT_CALLEE_RETAINS_SEVERAL,
  HKT_CALLEE_RELEASES_SEVERAL,
  /// memset: debuggers' copies of arguments begin so.
  HKT_CALLEE_CLEARS,
  /// memcpy: the bits of what is copied, without a retain.
  HKT_CALLEE_COPIES_BITS,
  /// Outlined copies and ends of values: of what lies at the address in rdi, in memory at rsi where there is a second one …
  HKT_CALLEE_COPIES,
  HKT_CALLEE_MOVES,
  HKT_CALLEE_ENDS,
  /// … and of the words in the argument registers.
  HKT_CALLEE_COPIES_WORDS,
  HKT_CALLEE_ENDS_WORDS,
} HKTCalleeKind;

typedef struct HKTCallee {
  HKTCalleeKind kind;
  /// Bits of HKTPlaces: argument registers, r13 and stack slots whose references the callee consumes; of an address, what lies there.
  HKTPlaces takes;
  /// Those whose references it may consume.
  HKTPlaces may_take;
  /// Those that a callee whose code is out of reach leaves alone, as all but a few do.
  HKTPlaces unread;
  /// How many bytes of what lies at the address an outlined function is for; 0: not known.
  uint32_t size;
  /// Bits of arguments, the first one's lowest: addresses of memory that is for the callee's own notes.
  uint8_t notes;
  bool never_returns;
  /// The result is an address in what the first argument points to.
  bool projects;
  /// The error register may come back with an error, or is about to be given one.
  bool may_fail;
} HKTCallee;

typedef enum HKTOwnership {
  /// Some paths may give up a reference, others may not.
  HKT_OWNERSHIP_UNKNOWN,
  /// The code cannot be read.
  HKT_OWNERSHIP_UNREAD,
  /// On every path to a return the count is left as it was, or higher.
  HKT_OWNERSHIP_KEPT,
  /// On every path to a return one reference more is given up than was taken.
  HKT_OWNERSHIP_CONSUMED,
} HKTOwnership;

/// Registers whose references are the caller's when the function returns.
typedef struct HKTOwnedResults {
  HKTPlaces certain;
  /// Those that hold a number, or what was left in them, on some ways out: where a case has no payload.
  HKTPlaces possible;
  /// Beside an error none of them means anything.
  bool may_fail;
} HKTOwnedResults;

/// A method's self: the reference in a general register, or a value whose address is there.
typedef struct HKTSelf {
  HKTPlaces place;
  bool is_address;
  /// Which 8 bytes of the value at the address are followed.
  int32_t word;
  /// Every value has a reference there, so that one path tells of all.
  bool is_certain;
  /// How many words of the same value may come before the one that is followed.
  uint32_t before;
} HKTSelf;

typedef struct HKTOwnershipHost {
  void *context;
  HKTCallee (*callee)(void *context, uint64_t target);
  /// The method whose place in its class's table, or in that of any subclass, is so many bytes behind the class's address. May be null.
  HKTCallee (*method)(void *context, int64_t offset);
  /// What a function whose convention no name tells does with what it is passed in a register, by its own code. May be null.
  HKTOwnership (*passed)(void *context, uint64_t target, HKTSelf passed);
  /// `size` constant bytes at an address (tables of jumps); null when there are none. May be null.
  const void *(*data)(void *context, uint64_t address, uint64_t size);
  /// The register in which the outlined function that is called at an offset takes the word that is followed, where all words that it takes
  /// are self's; 0: some may be others'. May be null.
  HKTPlaces (*whole)(void *context, uint64_t offset);
  /// The method that is called at an offset, as the class of another word of self tells; false: it is not known. May be null.
  bool (*called)(void *context, uint64_t offset, HKTCallee *callee);
  /// What is called on self where no code is known is a protocol's requirement, which may be consuming; a class's method keeps self, mostly.
  bool is_of_protocol;
} HKTOwnershipHost;

/// A call that tells of other words of the same value than the one that is followed.
typedef struct HKTTellingCall {
  /// From the start of the code.
  uint64_t offset;
  /// The outlined copy or end of words that is called; 0: a method of the followed word's class.
  uint64_t target;
  /// Which argument registers have the followed word there, on every path.
  HKTPlaces places;
  /// How far behind the class's address the method's is.
  int64_t method;
} HKTTellingCall;

/// No word of the value: what is done through its address counts, and what is read from where it cannot be known.
#define HKT_NO_WORD (1 << 24)

/// What the function does with its self.
/// - Parameters:
///   - words: may be null; bit i: the code takes the 8 bytes at 8 * i out of the value at the address. All bits: it cannot be known.
HKTOwnership hkt_read_ownership(
  const HKTCode *code, HKTSelf self, HKTOwnedResults results, const HKTOwnershipHost *host, uint64_t *words);

/// Finds all such calls.
void hkt_find_telling(
  const HKTCode *code, HKTSelf self, HKTOwnedResults results, const HKTOwnershipHost *host, void *context,
  void (*found)(void *context, HKTTellingCall call));

/// The function returns, on every path and in rax, the 64 bits that it was passed in the general register `place`.
bool hkt_returns_argument(const HKTCode *code, HKTPlaces place);

/// An instruction behind which it is open whether a reference was given up.
typedef struct HKTDoubt {
  /// From the start of the code.
  uint64_t offset;
  /// Where it goes; 0: where a register or a word says, or nowhere.
  uint64_t target;
  bool is_found, calls;
  /// What the instruction is.
  const char *name;
} HKTDoubt;

/// The first such instruction, for reports on what is not known.
HKTDoubt hkt_find_doubt(const HKTCode *code, HKTSelf self, HKTOwnedResults results, const HKTOwnershipHost *host);

#endif
