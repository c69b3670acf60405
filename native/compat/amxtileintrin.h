// _tile_loadconfig() that reads all of its 64 bytes.
//
// That of older GCCs (seen in 12.2) tells the optimiser of 8 bytes only, so that the rest of a
// configuration was often never written to memory, and `ldtilecfg` of what lay there ends the
// process (GCC bug 114098, as far as is known fixed in 11.5, 12.4 and 13.3). Included before
// llama.cpp's AMX sources where the compiler is such.

#pragma once

#include <immintrin.h>

#define _tile_loadconfig(config) \
  __asm__ volatile("ldtilecfg\t%X0" ::"m"(*reinterpret_cast<const char(*)[64]>(config)))
