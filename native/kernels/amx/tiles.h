// The tile registers: eight of 16 rows of 64 bytes.
//
// Instructions are written out, as compilers' own intrinsics do not tell the optimiser which memory
// they read and write (GCC), or want to choose the registers (Clang).

#pragma once

#include <cstdint>

namespace oi::kernels::amx {

constexpr int64_t kTileWidth = 64;  // bytes of a row
constexpr int64_t kTileBytes = 16 * kTileWidth;

// What `ldtilecfg` reads.
struct alignas(64) TileShapes {
  uint8_t palette = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};

  void Set(int tile, int64_t row_count, int64_t bytes) {
    rows[tile] = static_cast<uint8_t>(row_count);
    row_bytes[tile] = static_cast<uint16_t>(bytes);
  }
};
static_assert(sizeof(TileShapes) == 64);

inline void UseShapes(const TileShapes& shapes) { asm volatile("ldtilecfg %0" ::"m"(shapes)); }

// Tile registers as they were found, for llama.cpp's own products: it sets them up once per thread.
class KeepShapes {
 public:
  KeepShapes() { asm volatile("sttilecfg %0" : "=m"(before_)); }
  ~KeepShapes() {
    if (before_.palette != 0) {
      UseShapes(before_);
    } else {
      // Nothing to be saved at a change of threads.
      asm volatile("tilerelease");
    }
  }
  KeepShapes(const KeepShapes&) = delete;
  KeepShapes& operator=(const KeepShapes&) = delete;

 private:
  TileShapes before_;
};

template <int T>
void Zero() {
  asm volatile("tilezero %%tmm%c0" ::"i"(T));
}

// Rows `stride` bytes apart.
template <int T>
void Load(const void* from, int64_t stride = kTileWidth) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(stride), "i"(T) : "memory");
}

template <int T>
void Store(void* to, int64_t stride = kTileWidth) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(to), "r"(stride), "i"(T) : "memory");
}

// Sum += A B, of BF16: A a row per row of the sum, B a row for each two values of A's.
template <int Sum, int A, int B>
void Dot() {
  asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(Sum), "i"(A), "i"(B));
}

}  // namespace oi::kernels::amx
