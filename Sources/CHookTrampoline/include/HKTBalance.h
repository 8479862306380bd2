// HKTBalance — whether a method gives back the reference to its self that it was given, or uses it up.
//
// Nothing in a name tells a `consuming` method of a class. Its code does: it releases its self once more often than it
// retains it, or hands it on. The others leave the count as it was.
#ifndef HKT_BALANCE_H
#define HKT_BALANCE_H

#include "HKTFlow.h"

/// What a function does with what it is passed.
typedef enum HKTCalleeKind {
  HKT_CALLEE_UNKNOWN,
  /// May take over what it is passed, or keep it with a reference that our code gives up.
  HKT_CALLEE_FOREIGN,
  /// Takes over what `takes` says, and nothing else.
  HKT_CALLEE_KNOWN,
  /// swift_retain, swift_release and their like: an object in rdi.
  HKT_CALLEE_RETAINS,
  HKT_CALLEE_RELEASES,
  /// The same, as often as a register says.
  HKT_CALLEE_RETAINS_SEVERAL,
  HKT_CALLEE_RELEASES_SEVERAL,
  /// memset: debuggers' copies of arguments begin so.
  HKT_CALLEE_CLEARS,
} HKTCalleeKind;

typedef struct HKTCallee {
  HKTCalleeKind kind;
  /// Bits of HKTPlaces: argument registers, r13 and stack slots whose references the callee uses up.
  HKTPlaces takes;
  /// Those whose references it may use up.
  HKTPlaces may_take;
  /// Those that a callee whose code is out of reach leaves alone, as all but a few do.
  HKTPlaces unread;
  bool never_returns;
  /// The error register may come back with an error, or is about to be given one.
  bool may_fail;
} HKTCallee;

typedef struct HKTBalanceHost {
  void *context;
  HKTCallee (*callee)(void *context, uint64_t target);
  /// The method whose place in its class's table, or in that of any heir, is so many bytes behind the class's address. May be null.
  HKTCallee (*method)(void *context, int64_t offset);
} HKTBalanceHost;

typedef enum HKTBalance {
  /// Some paths may give up a reference, others may not.
  HKT_BALANCE_UNKNOWN,
  /// The code cannot be read.
  HKT_BALANCE_UNREAD,
  /// On every path to a return the count is left as it was, or higher.
  HKT_BALANCE_KEPT,
  /// On every path to a return one reference more is given up than was taken.
  HKT_BALANCE_CONSUMED,
} HKTBalance;

/// Registers whose references are the caller's when the function returns.
typedef struct HKTOwnedResults {
  HKTPlaces certain;
  /// Those that hold a number, or what was left in them, on some ways out: where a case has no payload.
  HKTPlaces possible;
  /// Beside an error none of them means anything.
  bool may_fail;
} HKTOwnedResults;

/// What the function does with the object that a general register refers to at its entry.
/// - Parameters:
///   - object: that register.
HKTBalance hkt_read_balance(const HKTCode *code, HKTPlaces object, HKTOwnedResults results, const HKTBalanceHost *host);

#endif
