#include "subject.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

double subject_many(int32_t a, double b, const char *c, float d, int64_t e, uint8_t f, void *g, int16_t h, int64_t i, double j, double k,
                    double l, double m, double n, double o, double p, double q, bool r) {
  return a + b * 2 + (double)strlen(c) * 3 + d * 4 + (double)e * 5 + f * 6 + (g ? 7 : 0) + h * 8 + (double)i * 9 + j * 10 + k * 11 + l * 12 +
         m * 13 + n * 14 + o * 15 + p * 16 + q * 17 + (r ? 18 : 0);
}

double subject_sum(int32_t count, ...) {
  va_list list;
  va_start(list, count);
  double sum = 0;
  for (int i = 0; i < count; i++) sum += va_arg(list, double);
  va_end(list);
  return sum;
}

const char *subject_greeting(const char *name) {
  static char text[256];
  if (!name || strcmp(name, "nobody") == 0) return NULL;
  snprintf(text, sizeof text, "hello %s", name);
  return text;
}

static int32_t runs;
__attribute__((noinline)) int32_t subject_fails(void) {
  runs++;
  errno = EBUSY;
  return -1;
}

int32_t subject_apply(int32_t (*function)(int32_t), int32_t value) { return function(value); }

int32_t subject_inner(void) {
  // Bound inside the library (-Bsymbolic): no word of an import table is read.
  (void)subject_fails();
  return runs;
}

int8_t subject_narrow(int8_t a, int16_t b, uint8_t c, uint16_t d) { return (int8_t)(a + b + c + d); }
