// Matmuls of F32 weights, whatever the width of a register.
//
// Nothing is rounded but sums. To be as exact as llama.cpp's, which adds up 64 of them, they are
// short: of kRun values, of a chunk's runs, and of chunks in doubles.
//
// S has what attention.h wants of registers, and
//   kColumns            columns that are computed side by side
//   kMostVectors        registers of rows that are computed side by side, at most
//   AddTo(totals, x)    adds to kLanes doubles
//   Singles(totals)     rounds kLanes doubles

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "../product.h"
#include "float_columns.h"

namespace oi::kernels::simd {

template <class S>
class ProductF32 {
 public:
  static void Multiply(const uint8_t* tiles, int64_t k, int64_t begin, int64_t end,
                       const uint8_t* activations, int64_t columns, float* const* results) {
    const auto* from = reinterpret_cast<const float*>(activations);
    const auto tile_bytes = static_cast<size_t>(k) * kStep;
    for (int64_t tile = begin; tile < end;) {
      const int64_t count = end - tile >= kMostTiles ? kMostTiles : 1;
      const uint8_t* first = tiles + static_cast<size_t>(tile) * tile_bytes;
      for (int64_t column = 0; column < columns; column += S::kColumns) {
        const int64_t width = std::min<int64_t>(S::kColumns, columns - column);
        const ComputeFunction* by_width = count == 1 ? kOne : kMany;
        by_width[width - 1](first, k, from + column * k, results + column, tile * kTileRows);
      }
      tile += count;
    }
  }

 private:
  using Vector = typename S::Vector;
  using ComputeFunction = void (*)(const uint8_t* tiles, int64_t k, const float* columns,
                                   float* const* results, int64_t row);

  static constexpr int64_t kRun = 8;
  static constexpr int64_t kChunk = 4 * kRun;
  static constexpr int64_t kStep = kTileRows * sizeof(float);  // one value of each row
  static constexpr int kVectors = kTileRows / S::kLanes;       // of a tile
  static constexpr int64_t kMostTiles = S::kMostVectors / kVectors;

  // The sums of kRun values: V registers of rows, C columns.
  template <int V, int C>
  static void SumRun(const uint8_t* tiles, int64_t k, const float* columns, int64_t begin,
                     Vector (&sums)[V][C]) {
#pragma GCC unroll 4
    for (int v = 0; v < V; ++v) {
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c) sums[v][c] = S::Zero();
    }
#pragma GCC unroll 8
    for (int64_t i = begin; i < begin + kRun; ++i) {
      Vector weights[V];
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) {
        const auto* tile = reinterpret_cast<const float*>(tiles + (v / kVectors * k + i) * kStep);
        weights[v] = S::Load(tile + v % kVectors * S::kLanes);
      }
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c) {
        const Vector column = S::Set(columns[i * C + c]);
#pragma GCC unroll 4
        for (int v = 0; v < V; ++v) {
          sums[v][c] = S::MultiplyAdd(weights[v], column, sums[v][c]);
        }
      }
    }
  }

  template <int T, int C>
  static void Compute(const uint8_t* tiles, int64_t k, const float* columns, float* const* results,
                      int64_t row) {
    constexpr int V = T * kVectors;
    alignas(64) double totals[V][C][S::kLanes] = {};
    for (int64_t chunk = 0; chunk < k; chunk += kChunk) {
      Vector sums[V][C];
      SumRun(tiles, k, columns, chunk, sums);
      for (int64_t run = chunk + kRun; run < chunk + kChunk; run += kRun) {
        Vector more[V][C];
        SumRun(tiles, k, columns, run, more);
#pragma GCC unroll 4
        for (int v = 0; v < V; ++v) {
#pragma GCC unroll 8
          for (int c = 0; c < C; ++c) sums[v][c] = S::Add(sums[v][c], more[v][c]);
        }
      }
#pragma GCC unroll 4
      for (int v = 0; v < V; ++v) {
#pragma GCC unroll 8
        for (int c = 0; c < C; ++c) S::AddTo(totals[v][c], sums[v][c]);
      }
    }
    for (int v = 0; v < V; ++v) {
      for (int c = 0; c < C; ++c) {
        S::Store(results[c] + row + v * S::kLanes, S::Singles(totals[v][c]));
      }
    }
  }

  // By width - 1; what is wider than kColumns is never called.
  template <int T>
  static constexpr ComputeFunction kComputers[] = {
      Compute<T, 1>,
      Compute<T, 2>,
      Compute<T, 3>,
      Compute<T, std::min(4, S::kColumns)>,
      Compute<T, std::min(5, S::kColumns)>,
      Compute<T, std::min(6, S::kColumns)>,
  };
  static constexpr const ComputeFunction* kOne = kComputers<1>;
  static constexpr const ComputeFunction* kMany = kComputers<kMostTiles>;
  static_assert(S::kColumns >= 3 && S::kColumns <= 6);
};

template <class S>
inline constexpr ProductKernel kProductF32{S::kColumns, FloatColumnBytes, ConvertFloatColumns,
                                           ProductF32<S>::Multiply};

}  // namespace oi::kernels::simd
