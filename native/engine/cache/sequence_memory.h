// Where the cells of a context's sequences are: llama.cpp's memory, or an encoder's own
// (prefix/kept_cells.h).

#pragma once

#include <cstddef>
#include <cstdint>

#include "cell_room.h"
#include "llama.h"

namespace oi {

class SequenceMemory {
 public:
  virtual ~SequenceMemory() = default;

  // Everything from `position` on.
  virtual void Remove(llama_seq_id id, llama_pos position) noexcept = 0;
  virtual void Copy(llama_seq_id from, llama_seq_id to) = 0;
  // The lowest position that is there.
  virtual llama_pos Lowest(llama_seq_id id) const = 0;
  // True if its cells before `position` keep attention reading cells that nobody needs.
  virtual bool IsHigh(llama_seq_id id, llama_pos position) const {
    (void)id, (void)position;
    return false;
  }
  // Empties all. With `data`, zeros stand in the memory too.
  virtual void Clear(bool data) = 0;

  // Of what is saved.
  virtual size_t Bytes(llama_seq_id id) const = 0;
  // False if it is not of that size.
  virtual bool Save(llama_seq_id id, uint8_t* to, size_t size) const = 0;
  // False if it is not taken.
  virtual bool Load(llama_seq_id id, const uint8_t* from, size_t size) = 0;
};

class LlamaMemory final : public SequenceMemory {
 public:
  // `room`: null, or what knows its cells better.
  LlamaMemory(llama_context* context, CellRoom* room)
      : context_(context), memory_(llama_get_memory(context)), room_(room) {}

  void Remove(llama_seq_id id, llama_pos position) noexcept override {
    if (room_ != nullptr) return room_->Remove(id, position);
    llama_memory_seq_rm(memory_, id, position, -1);
  }
  void Copy(llama_seq_id from, llama_seq_id to) override {
    if (room_ != nullptr) return room_->Copy(from, to);
    llama_memory_seq_cp(memory_, from, to, -1, -1);
  }
  llama_pos Lowest(llama_seq_id id) const override { return llama_memory_seq_pos_min(memory_, id); }
  bool IsHigh(llama_seq_id id, llama_pos position) const override {
    return room_ != nullptr && room_->IsHigh(id, position);
  }
  void Clear(bool data) override { llama_memory_clear(memory_, data); }

  size_t Bytes(llama_seq_id id) const override {
    return llama_state_seq_get_size_ext(context_, id, 0);
  }
  bool Save(llama_seq_id id, uint8_t* to, size_t size) const override {
    return llama_state_seq_get_data_ext(context_, to, size, id, 0) == size;
  }
  bool Load(llama_seq_id id, const uint8_t* from, size_t size) override {
    return llama_state_seq_set_data_ext(context_, from, size, id, 0) != 0;
  }

 private:
  llama_context* const context_;
  const llama_memory_t memory_;
  CellRoom* const room_;
};

}  // namespace oi
