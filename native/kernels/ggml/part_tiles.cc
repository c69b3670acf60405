#include "part_tiles.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace oi::kernels {
namespace {

constexpr size_t kCells = static_cast<size_t>(kPartCells);
constexpr size_t kLevels = 3;

// What a part sees at a level: what is before it, and last itself.
SeenCells SeenAt(const StepPart& part, size_t level) {
  return level < part.levels ? part.before[level] : SeenCells{nullptr, part.first, part.count};
}

uint64_t Bits(size_t begin, size_t end) {
  const auto below = [](size_t n) { return n >= 64 ? ~0ull : (1ull << n) - 1; };
  return below(end) & ~below(begin);
}

}  // namespace

void PartTiles::Divide(const PartsStep& step) {
  tiles_.clear();
  runs_.clear();
  blocks_.clear();
  masks_.clear();
  const std::vector<StepPart>& parts = step.parts;
  for (size_t begin = 0; begin < parts.size();) {
    size_t end = begin;
    while (end < parts.size() && parts[end].group == parts[begin].group) ++end;
    const size_t last = parts[end - 1].first + parts[end - 1].count;
    size_t part = begin;
    for (size_t row = parts[begin].first; row < last; row += most_) {
      while (parts[part].first + parts[part].count <= row) ++part;
      AddTile(step, row, std::min(most_, last - row), part);
    }
    begin = end;
  }
}

void PartTiles::AddTile(const PartsStep& step, size_t first, size_t rows, size_t first_part) {
  Tile tile{first, rows, blocks_.size()};
  const size_t end = first + rows;
  for (size_t level = 0; level < kLevels; ++level) {
    std::vector<Seen> seen;
    for (size_t i = first_part; i < step.parts.size() && step.parts[i].first < end; ++i) {
      const StepPart& part = step.parts[i];
      if (level > part.levels) continue;
      const SeenCells cells = SeenAt(part, level);
      const size_t begin = std::max(part.first, first) - first;
      const uint64_t bits = Bits(begin, std::min(part.first + part.count, end) - first);
      const auto same = std::find_if(seen.begin(), seen.end(),
                                     [&](const Seen& other) { return other.cells == cells; });
      if (same != seen.end()) {
        same->rows |= bits;
      } else {
        seen.push_back({cells, bits});
      }
    }
    AddBlocks(seen, rows);
  }
  tile.blocks = blocks_.size() - tile.first_block;
  tiles_.push_back(tile);
}

// Whole pieces are blocks by themselves; the last, shorter ones share blocks in order.
void PartTiles::AddBlocks(const std::vector<Seen>& seen, size_t rows) {
  std::vector<std::pair<Run, uint64_t>> open;
  size_t cells = 0;
  for (const auto& [of, bits] : seen) {
    for (size_t at = 0; at < of.count; at += kCells) {
      const Run run{{of.kept, of.first, std::min(kCells, of.count - at)}, at, of.count};
      if (run.cells.count == kCells) {
        AddBlock({{run, bits}}, rows);
        continue;
      }
      if (cells + run.cells.count > kCells) {
        AddBlock(open, rows);
        open.clear();
        cells = 0;
      }
      open.emplace_back(run, bits);
      cells += run.cells.count;
    }
  }
  if (!open.empty()) AddBlock(open, rows);
}

void PartTiles::AddBlock(const std::vector<std::pair<Run, uint64_t>>& runs, size_t rows) {
  Block block{runs_.size(), runs.size(), -1};
  for (const auto& [run, bits] : runs) runs_.push_back(run);
  const bool plain = runs.size() == 1 && runs.front().first.cells.count == kCells &&
                     runs.front().second == Bits(0, rows);
  if (!plain) {
    block.mask = static_cast<ptrdiff_t>(masks_.size());
    masks_.resize(masks_.size() + kCells * most_, -std::numeric_limits<float>::infinity());
    float* line = masks_.data() + block.mask;
    for (const auto& [run, bits] : runs) {
      for (size_t i = 0; i < run.cells.count; ++i, line += most_) {
        for (size_t row = 0; row < rows; ++row) {
          if ((bits >> row & 1) != 0) line[row] = 0;
        }
      }
    }
  }
  blocks_.push_back(block);
}

void PartTiles::Point(const PartsStep& step, size_t layers, uint8_t* const (&cells)[2],
                      size_t cell_bytes) {
  pointed_runs_.resize(layers * runs_.size());
  pointed_.resize(layers * blocks_.size());
  const size_t rows = step.tokens.size();
  for (size_t layer = 0; layer < layers; ++layer) {
    CellRun* const first = pointed_runs_.data() + layer * runs_.size();
    for (size_t i = 0; i < runs_.size(); ++i) {
      const auto& [of, offset, all] = runs_[i];
      const uint8_t* keys = of.kept != nullptr ? of.kept + 2 * layer * all * cell_bytes
                                               : cells[layer % 2] + of.first * cell_bytes;
      const size_t apart = (of.kept != nullptr ? all : rows) * cell_bytes;
      keys += offset * cell_bytes;
      first[i] = {keys, keys + apart, static_cast<int64_t>(of.count)};
    }
    for (size_t i = 0; i < blocks_.size(); ++i) {
      const Block& block = blocks_[i];
      pointed_[layer * blocks_.size() + i] = {
          first + block.first_run, static_cast<int64_t>(block.runs),
          block.mask < 0 ? nullptr : masks_.data() + block.mask};
    }
  }
}

double PartTiles::pairs() const {
  double sum = 0;
  for (const Tile& tile : tiles_) sum += static_cast<double>(tile.rows * tile.blocks * kCells);
  return sum;
}

}  // namespace oi::kernels
