// C functions of every shape that imports have.
#ifndef SUBJECT_H
#define SUBJECT_H
#include <stdbool.h>
#include <stdint.h>

/// Integers and doubles beyond the registers; answers a number that all of them are in.
double subject_many(int32_t a, double b, const char *c, float d, int64_t e, uint8_t f, void *g, int16_t h, int64_t i, double j, double k,
                    double l, double m, double n, double o, double p, double q, bool r);
/// The sum of `count` doubles: a call with variadic arguments in vector registers and on the stack.
double subject_sum(int32_t count, ...);
/// A text that is never freed; nil for "nobody".
const char *subject_greeting(const char *name);
/// -1, with EBUSY in errno.
int32_t subject_fails(void);
/// Calls back.
int32_t subject_apply(int32_t (*function)(int32_t), int32_t value);
/// How often subject_fails ran, for itself: calls inside the library.
int32_t subject_inner(void);
int8_t subject_narrow(int8_t a, int16_t b, uint8_t c, uint16_t d);
#endif
