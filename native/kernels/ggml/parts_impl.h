// The fused pass, inside: what is computed by whom (parts_forward.cc), and the network
// (parts_network.cc).

#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "../parts_forward.h"
#include "../rows.h"
#include "part_tiles.h"
#include "parts_work.h"
#include "product_plan.h"

namespace oi::kernels {

// Null if it cannot be tiled.
inline const ProductKernel* KernelOf(const PartsWeights::Matrix& matrix, bool exact) {
  const std::optional<Format> format = FormatOf(matrix.weights->type);
  if (!format) return nullptr;
  return FindProduct(*format, matrix.weights->ne[1], exact);
}

struct PartsForward::Impl {
  using Matrix = PartsWeights::Matrix;
  using Work = PartsWork;

  // Rows that one thread computes at a time.
  struct Piece {
    size_t first_tile;
    size_t tiles;
    size_t first;  // row
    size_t count;
    size_t first_output;
    size_t outputs;
  };

  const PartsWeights weights;
  const CacheFormat format;
  const PartAttentionKernel& attention;
  const RowKernel& rows;
  const size_t cell_bytes;  // of keys or values
  const PartsStep* step = nullptr;
  PartTiles tiles;
  std::vector<Piece> pieces;
  size_t widest = 0;  // rows of a piece
  Memory memory;
  Memory work_memory;
  std::vector<Work> work;
  float* states = nullptr;   // [rows][width]
  float* queries = nullptr;  // [rows][width]
  uint8_t* cells[2] = {};    // of two layers in turn: [keys, values][rows][width]
  float* outputs = nullptr;  // [outputs][width]
  std::unique_ptr<std::atomic<size_t>[]> next;
  std::unique_ptr<std::atomic<bool>[]> stopped;
  bool stop = false;
  double cost = 0;

  Impl(const PartsWeights& given, CacheFormat cell_format);

  // ---- what is computed by whom ----

  void Divide(int threads);
  size_t MostActivationBytes(int64_t k, size_t columns) const;
  void Reserve(int threads);

  // Calls use(piece) for each, on whichever thread is free.
  template <class Use>
  void ForEachPiece(std::atomic<size_t>& counter, Use use) const {
    for (;;) {
      const size_t i = counter.fetch_add(1, std::memory_order_relaxed);
      if (i >= pieces.size()) return;
      use(pieces[i]);
    }
  }

  // ---- the network ----

  // ---- matmuls ----
  // The sources, as `kernel` multiplies them.
  void Convert(const ProductKernel& kernel, size_t count, int64_t k, const Work& my) const;
  void Multiply(const Matrix& matrix, size_t count, const Work& my) const;
  void Embed(const Piece& piece, const Work& my) const;
  // Queries, and cells, of a layer.
  void Begin(size_t index, const Piece& piece, const Work& my);
  // Copies what is to be kept of a layer's cells.
  void Keep(size_t index, const Piece& piece) const;
  // Attention of a piece's rows, or of those of its tiles that have an output.
  void Attend(size_t index, const Piece& piece, bool last, const Work& my) const;
  bool HasOutput(const Piece& piece, size_t begin, size_t end) const;
  // The rest of a layer, for rows of which my.sources are what they attended to and `state(i)` what
  // they were.
  template <class State>
  void Finish(size_t index, size_t count, State state, const Work& my) const;
  void FinishLayer(size_t index, const Piece& piece, const Work& my) const;

  void From(const float* first, size_t count, int64_t stride, const Work& my) const {
    for (size_t i = 0; i < count; ++i) my.sources[i] = first + static_cast<int64_t>(i) * stride;
  }

  void To(float* first, size_t count, int64_t stride, const Work& my) const {
    for (size_t i = 0; i < count; ++i) my.results[i] = first + static_cast<int64_t>(i) * stride;
  }

  float* StateOf(size_t row) const { return states + row * static_cast<size_t>(weights.width); }
};

}  // namespace oi::kernels
