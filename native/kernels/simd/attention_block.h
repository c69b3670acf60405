// One block of cells for one tile of rows: scores, softmax, values. S: see attention.h.

#pragma once

#include "../attention.h"
#include "attention_mask.h"
#include "exp.h"

namespace oi::kernels::simd {

// Everything transposed: a line of kRows<S> floats for each index.
struct Tile {
  float* queries;  // [key_size][kRows]
  float* results;  // [value_size][kRows]
  float* maximum;  // [kRows], of the scores so far: whole powers of 2 in e^score
  float* sum;      // [kRows]
};

template <class S>
struct Scratch {
  float* keys;     // [kCells][key_size]
  float* values;   // [kCells][value_size]
  float* weights;  // [kCells][kRows], also of the scores
  float* mask;     // [kCells][kRows]
  Tile tiles[S::kMaxTiles];
};

// V vectors of rows.
template <class S, int V>
void Scores(const AttentionShape& shape, const float* keys, const float* queries, float* scores) {
  using Vector = typename S::Vector;
  for (int64_t cell = 0; cell < kCells; cell += S::kStripe) {
    Vector sums[V][S::kStripe];
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) {
#pragma GCC unroll 8
      for (int c = 0; c < S::kStripe; ++c) sums[v][c] = S::Zero();
    }
    const float* key = keys + cell * shape.key_size;
    for (int64_t d = 0; d < shape.key_size; ++d) {
      Vector query[V];
#pragma GCC unroll 2
      for (int v = 0; v < V; ++v) {
        query[v] = S::Load(queries + d * kRows<S> + v * S::kLanes);
      }
#pragma GCC unroll 8
      for (int c = 0; c < S::kStripe; ++c) {
        const Vector value = S::Set(key[c * shape.key_size + d]);
#pragma GCC unroll 2
        for (int v = 0; v < V; ++v) sums[v][c] = S::MultiplyAdd(query[v], value, sums[v][c]);
      }
    }
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) {
#pragma GCC unroll 8
      for (int c = 0; c < S::kStripe; ++c) {
        S::Store(scores + (cell + c) * kRows<S> + v * S::kLanes, sums[v][c]);
      }
    }
  }
}

// Scores below count as this one, and what is hidden as twice this: beside any that is seen its
// weight is 0.
constexpr float kLeastScore = -1048576.0f;
constexpr float kLeastPower = -1512775.0f;  // PowerOf2In(kLeastScore)

// 2^n, or 0 below 2^-149.
template <class S>
typename S::Vector PowerOf2(typename S::Vector n) {
  return S::TimesPowerOf2(S::Set(1.0f), S::Max(S::Set(-152.0f), n));
}

// Scores become weights; returns what the results so far must be multiplied with.
// `mask`: null if it hides nothing.
//
// A weight is p * 2^(n - maximum), with p and n of its score alone, and the maximum is whole: so
// every multiplication with what this returns is exact, but of what is below 2^-126 of a row's
// largest weight, and sums have the same bits wherever the cells are cut into blocks.
template <class S>
typename S::Vector Softmax(float scale, const float* mask, float* scores, float* maximum,
                           float* sum) {
  using Vector = typename S::Vector;
  const Vector factor = S::Set(scale);
  const Vector least = S::Set(kLeastScore);
  const Vector hidden = S::Set(2 * kLeastScore);
  const Vector before = S::Load(maximum);
  Vector highest = least;
  for (int64_t cell = 0; cell < kCells; ++cell) {
    float* at = scores + cell * kRows<S>;
    Vector score = S::Multiply(S::Load(at), factor);
    if (mask != nullptr) {
      const Vector added = S::Load(mask + cell * kRows<S>);
      // Hidden is hidden, even if the key holds no number.
      score = S::WhereHidden(added, hidden, S::Max(least, S::Add(score, added)));
    } else {
      score = S::Max(least, score);
    }
    S::Store(at, score);
    highest = S::Max(highest, score);
  }
  const Vector after = S::Max(before, PowerOf2In<S>(highest));
  const Vector correction = PowerOf2<S>(S::Subtract(before, after));
  Vector total = S::Multiply(S::Load(sum), correction);
  for (int64_t cell = 0; cell < kCells; ++cell) {
    float* at = scores + cell * kRows<S>;
    const Vector score = S::Load(at);
    const Vector n = PowerOf2In<S>(score);
    const Vector power = S::Max(S::Set(-152.0f), S::Subtract(n, after));
    const Vector weight = S::TimesPowerOf2(ExpOfRest<S>(score, n), power);
    S::Store(at, weight);
    total = S::Add(total, weight);
  }
  S::Store(maximum, after);
  S::Store(sum, total);
  return correction;
}

template <class S, int V>
void AddValues(const AttentionShape& shape, const float* values, const float* weights,
               const typename S::Vector (&correction)[2], float* results) {
  using Vector = typename S::Vector;
  for (int64_t d = 0; d < shape.value_size; d += S::kStripe) {
    Vector sums[V][S::kStripe];
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) {
#pragma GCC unroll 8
      for (int i = 0; i < S::kStripe; ++i) {
        const float* result = results + (d + i) * kRows<S> + v * S::kLanes;
        sums[v][i] = S::Multiply(S::Load(result), correction[v]);
      }
    }
    for (int64_t cell = 0; cell < kCells; ++cell) {
      const float* value = values + cell * shape.value_size + d;
      Vector weight[V];
#pragma GCC unroll 2
      for (int v = 0; v < V; ++v) {
        weight[v] = S::Load(weights + cell * kRows<S> + v * S::kLanes);
      }
#pragma GCC unroll 8
      for (int i = 0; i < S::kStripe; ++i) {
        const Vector one = S::Set(value[i]);
#pragma GCC unroll 2
        for (int v = 0; v < V; ++v) sums[v][i] = S::MultiplyAdd(weight[v], one, sums[v][i]);
      }
    }
#pragma GCC unroll 2
    for (int v = 0; v < V; ++v) {
#pragma GCC unroll 8
      for (int i = 0; i < S::kStripe; ++i) {
        S::Store(results + (d + i) * kRows<S> + v * S::kLanes, sums[v][i]);
      }
    }
  }
}

template <class S, int V>
void AddBlock(const AttentionShape& shape, const Scratch<S>& scratch, const float* mask,
              const Tile& tile) {
  Scores<S, V>(shape, scratch.keys, tile.queries, scratch.weights);
  typename S::Vector correction[2];
#pragma GCC unroll 2
  for (int v = 0; v < V; ++v) {
    correction[v] = Softmax<S>(shape.scale, mask == nullptr ? nullptr : mask + v * S::kLanes,
                               scratch.weights + v * S::kLanes, tile.maximum + v * S::kLanes,
                               tile.sum + v * S::kLanes);
  }
  AddValues<S, V>(shape, scratch.values, scratch.weights, correction, tile.results);
}

}  // namespace oi::kernels::simd
