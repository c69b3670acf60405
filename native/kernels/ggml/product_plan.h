// A matmul of tiled weights, divided among threads: columns of activations, and where results go.

#pragma once

#include <algorithm>
#include <optional>

#include "../product.h"
#include "ggml-cpu-impl.h"
#include "ggml.h"
#include "graph_passes.h"

namespace oi::kernels {

// Null if weights of this type cannot be tiled.
std::optional<Format> FormatOf(ggml_type type);

// The columns that one matrix of weights is multiplied with.
struct Columns {
  int64_t begin = 0;
  int64_t end = 0;
};

// Matrices of weights (one, or one per expert) and their columns. What it points to lies in the
// work buffer, one for all threads; the first fills it in.
struct Plan {
  Plan(const ggml_tensor* op, void* memory)
      : weights(op->src[0]),
        format(*FormatOf(weights->type)),
        exact(IsExact(op)),
        kernel(*FindProduct(format, weights->ne[1], exact)),
        k(weights->ne[0]),
        rows(weights->ne[1]),
        tiles(TilesOf(rows)),
        matrices(weights->ne[2]),
        given(op->ne[1] * op->ne[2] * op->ne[3]),
        copies(exact && kernel.residual != nullptr ? 2 : 1),
        count(given * copies) {
    const auto start = reinterpret_cast<uintptr_t>(memory);
    uintptr_t next = start;
    const auto take = [&next](size_t size) {
      const uintptr_t at = next;
      next += (size + 63) / 64 * 64;
      return at;
    };
    const auto n = static_cast<size_t>(count);
    activations = reinterpret_cast<uint8_t*>(take(kernel.activation_bytes(k, count)));
    sources = reinterpret_cast<const float**>(take(n * sizeof(float*)));
    results = reinterpret_cast<float**>(take(n * sizeof(float*)));
    columns = reinterpret_cast<Columns*>(take(static_cast<size_t>(matrices) * sizeof(Columns)));
    const size_t left = copies == 1 ? 0 : static_cast<size_t>(given) * sizeof(float);
    residuals = reinterpret_cast<float*>(take(left * static_cast<size_t>(k)));
    parts = reinterpret_cast<float*>(take(left * static_cast<size_t>(tiles * kTileRows)));
    const size_t last = rows % kTileRows == 0 ? 0 : n;
    last_rows = reinterpret_cast<float*>(take(last * kTileRows * sizeof(float)));
    last_results = reinterpret_cast<float**>(take(last * sizeof(float*)));
    bytes = next - start;
  }

  // Bytes of the work buffer, whatever its alignment.
  size_t WorkBytes() const { return bytes + 63; }

  const ggml_tensor* weights;
  Format format;
  bool exact;
  const ProductKernel& kernel;
  int64_t k;
  int64_t rows;   // of a matrix
  int64_t tiles;  // the last may lack rows, of a single matrix
  int64_t matrices;
  int64_t given;   // columns
  int64_t copies;  // of each: 1, or 2 of which the second is the residual
  int64_t count;   // of all columns

  uint8_t* activations;
  const float** sources;  // [count]
  float** results;        // [count]
  Columns* columns;       // [matrices]
  float* residuals;       // [given][k]
  float* parts;           // [given][tiles * kTileRows], results of the residuals
  float* last_rows;       // [count][kTileRows], results of a tile that lacks rows
  float** last_results;   // [count]
  size_t bytes;

  uint8_t* ActivationsFrom(int64_t column) const {
    return activations + static_cast<size_t>(column) * kernel.activation_bytes(k, 1);
  }
  size_t TileBytes() const { return kernels::TileBytes(format, k); }
  const uint8_t* Matrix(int64_t i) const {
    return static_cast<const uint8_t*>(weights->data) + static_cast<size_t>(i) * weights->nb[2];
  }
  // The last tile's results, of the rows that it has, to where all are.
  void TakeLastRows() const;
  // Adds the parts of some columns to their results, for the rows of tiles begin to end.
  void AddParts(Columns some, int64_t begin, int64_t end) const;
};

// The plan of the matmul `op`, whose results go to `results`, a tensor of its shape: filled in,
// with the activations converted. At the start of the work buffer; for all of an operation's
// threads.
Plan StartPlan(const ggml_compute_params& params, const ggml_tensor* op,
               const ggml_tensor* results);

// Calls multiply(matrix, its columns, first tile, last tile); each thread takes the next piece when
// it is done with one, as threads are not equally fast on a machine with other work. Once for each
// StartPlan().
template <class Function>
void ForEachPiece(const ggml_compute_params& params, const Plan& plan, Function multiply) {
  // Pairs of tiles, which the kernels compute together.
  const int64_t pairs = (plan.tiles + 1) / 2;
  const int64_t pieces = std::min<int64_t>(pairs, params.nth == 1 ? 1 : params.nth * 8);
  int64_t next = params.ith;
  int64_t first = 0;  // piece of the current matrix
  for (int64_t i = 0; i < plan.matrices; ++i) {
    const Columns columns = plan.columns[i];
    if (columns.begin == columns.end) continue;
    while (next < first + pieces) {
      const int64_t piece = next - first;
      multiply(i, columns, piece * pairs / pieces * 2,
               std::min(plan.tiles, (piece + 1) * pairs / pieces * 2));
      next = ggml_threadpool_chunk_add(params.threadpool, 1);
    }
    first += pieces;
  }
}

}  // namespace oi::kernels
