// Private to this target: the decoder of instructions.
#ifndef HKT_DECODER_H
#define HKT_DECODER_H

#include <Zydis/Zydis.h>

/// A decoder of 64-bit code. Only a mode that Zydis does not have could fail.
static inline ZydisDecoder hkt_decoder(void) {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  return decoder;
}

#endif
