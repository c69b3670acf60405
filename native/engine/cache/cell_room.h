// Where in a context the cells of the next batch lie, and how many attention reads: every cell up
// to the highest one that holds a token, rounded up to 256, whoever may see it.
//
// llama.cpp looks for free cells behind those that it gave last, so tokens would wander upwards.
// And it uses the graph of a batch again only if the next one reads as many cells.

#pragma once

#include <cstddef>
#include <memory>

#include "llama.h"

namespace oi {

class CellRoom {
 public:
  virtual ~CellRoom() = default;

  // The next `count` tokens go to the lowest free cells. Returns how many cells are read then.
  virtual size_t Take(size_t count) = 0;
  // Until Release(), `cells` are read, a multiple of 256, where that is more.
  virtual void Read(size_t cells) = 0;
  // Frees that, and all cells of the fillers.
  virtual void Release() = 0;
  // True if a cell of the sequence's positions before `end` lies well above where the last one in
  // use would if they lay close: as long as it is held, every step reads all cells below it.
  virtual bool IsHigh(llama_seq_id id, llama_pos end) const = 0;

  // As llama_memory_seq_rm() and llama_memory_seq_cp(), which look at every cell of the context:
  // for a step of many questions that took as long as its mask.
  virtual void Remove(llama_seq_id id, llama_pos position) = 0;
  virtual void Copy(llama_seq_id from, llama_seq_id to) = 0;
};

// Valid as long as the context. Sequences from `first` to `last` fill batches up, but for the last
// one, which is the room's own. Null if the memory is of no known kind, or another llama.cpp's.
std::unique_ptr<CellRoom> CellRoomOf(llama_context* context, llama_seq_id first, llama_seq_id last);

}  // namespace oi
