// The cells of states: what the layers of an encoder have made of each of its tokens, in memory of
// its own for each, on the CPU or on a device.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include "../cache/sequence_memory.h"
#include "ggml-backend.h"
#include "ggml.h"

namespace oi {

// What a cell takes.
struct CellShape {
  ggml_type type = GGML_TYPE_F16;
  size_t width = 0;
  size_t layers = 0;

  size_t row_bytes() const { return ggml_row_size(type, static_cast<int64_t>(width)); }
  size_t bytes(size_t tokens) const { return 2 * layers * tokens * row_bytes(); }
};

// Of one state: [layer][keys, values][tokens][width].
class KeptCells {
 public:
  // Throws std::bad_alloc.
  KeptCells(const CellShape& shape, size_t tokens, ggml_backend_buffer_type_t memory);
  ~KeptCells();
  KeptCells(const KeptCells&) = delete;
  KeptCells& operator=(const KeptCells&) = delete;

  size_t tokens() const { return tokens_; }
  // ne: width, tokens, 2 · layers.
  ggml_tensor* tensor() const { return tensor_; }
  // On the CPU alone.
  uint8_t* data() const { return static_cast<uint8_t*>(tensor_->data); }

 private:
  const size_t tokens_;
  ggml_context* context_;
  ggml_tensor* tensor_;
  ggml_backend_buffer_t buffer_;
};

class KeptMemory final : public SequenceMemory {
 public:
  KeptMemory(CellShape shape, ggml_backend_buffer_type_t memory) : shape_(shape), memory_(memory) {}

  const CellShape& shape() const { return shape_; }
  // Of a state that is about to be evaluated; what the sequence had is forgotten.
  KeptCells& Make(llama_seq_id id, size_t tokens);
  KeptCells* Find(llama_seq_id id) const;

  // A state is there as a whole or not at all.
  void Remove(llama_seq_id id, llama_pos) noexcept override { kept_.erase(id); }
  void Copy(llama_seq_id, llama_seq_id) override {}
  llama_pos Lowest(llama_seq_id) const override { return 0; }
  void Clear(bool) override { kept_.clear(); }
  size_t Bytes(llama_seq_id id) const override;
  bool Save(llama_seq_id id, uint8_t* to, size_t size) const override;
  bool Load(llama_seq_id id, const uint8_t* from, size_t size) override;

 private:
  const CellShape shape_;
  const ggml_backend_buffer_type_t memory_;
  std::unordered_map<llama_seq_id, std::unique_ptr<KeptCells>> kept_;
};

}  // namespace oi
