// Private to this target: the one writer of words of the program's data.
#ifndef HKT_WORD_MEMORY_H
#define HKT_WORD_MEMORY_H

#include "patch_record.h"

/// Finds out how the slots' words can be read and written, in one walk over the mappings. Everything below relies on it, in
/// the same transaction. False when the mappings cannot be read.
bool hkt_words_look(HKTSlot *slots, size_t count, HKTRefusal *refusal);

/// What the word holds; HKT_NO_WORD where there is no memory.
bool hkt_word_read(const HKTSlot *slot, uint64_t *value, HKTRefusal *refusal);

/// Changes the slot's word from `from` to `to` in one step, or leaves it as it is: HKT_CHANGED_ELSEWHERE when it holds
/// something else.
bool hkt_word_change(const HKTSlot *slot, uint64_t from, uint64_t to, HKTRefusal *refusal);

#endif
