// Tiles of rows for the attention of parts, and the blocks of cells that each tile goes through.
//
// What a part sees is cut into pieces of kPartCells cells from its own beginning on, so that the
// sums of a row are the same wherever it is computed. Pieces of several parts that no row sees two
// of share a block: of the questions of a tile, and of its options.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../parts_forward.h"

namespace oi::kernels {

class PartTiles {
 public:
  // `most`: rows of a tile.
  explicit PartTiles(int64_t most) : most_(static_cast<size_t>(most)) {}

  void Divide(const PartsStep& step);
  // Where the cells of all layers are: those of the step's tokens in two buffers in turn, each
  // [keys, values][tokens].
  void Point(const PartsStep& step, size_t layers, uint8_t* const (&cells)[2], size_t cell_bytes);

  size_t count() const { return tiles_.size(); }
  size_t first(size_t tile) const { return tiles_[tile].first; }
  size_t rows(size_t tile) const { return tiles_[tile].rows; }
  size_t block_count(size_t tile) const { return tiles_[tile].blocks; }
  const PartBlock* blocks(size_t layer, size_t tile) const {
    return pointed_.data() + layer * blocks_.size() + tiles_[tile].first_block;
  }
  // Rows times the cells of their blocks.
  double pairs() const;

 private:
  struct Tile {
    size_t first;
    size_t rows;
    size_t first_block = 0;
    size_t blocks = 0;
  };
  struct Run {
    SeenCells cells;  // at most kPartCells of them
    size_t offset;    // of the first, among those that are seen together
    size_t all;       // cells that are kept together
  };
  struct Block {
    size_t first_run;
    size_t runs;
    ptrdiff_t mask;  // of masks_; -1: none
  };
  // What rows of a tile see at one level, and which rows.
  struct Seen {
    SeenCells cells;
    uint64_t rows;  // bits
  };

  void AddTile(const PartsStep& step, size_t first, size_t rows, size_t first_part);
  void AddBlocks(const std::vector<Seen>& seen, size_t rows);
  void AddBlock(const std::vector<std::pair<Run, uint64_t>>& runs, size_t rows);

  const size_t most_;
  std::vector<Tile> tiles_;
  std::vector<Run> runs_;
  std::vector<Block> blocks_;
  std::vector<float> masks_;
  std::vector<CellRun> pointed_runs_;  // [layer][runs_]
  std::vector<PartBlock> pointed_;     // [layer][blocks_]
};

}  // namespace oi::kernels
