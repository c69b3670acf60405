#include "kept_cells.h"

#include <new>

namespace oi {

KeptCells::KeptCells(const CellShape& shape, size_t tokens, ggml_backend_buffer_type_t memory)
    : tokens_(tokens),
      context_(ggml_init(
          {.mem_size = ggml_tensor_overhead(), .mem_buffer = nullptr, .no_alloc = true})) {
  if (context_ == nullptr) throw std::bad_alloc();
  tensor_ =
      ggml_new_tensor_3d(context_, shape.type, static_cast<int64_t>(shape.width),
                         static_cast<int64_t>(tokens), static_cast<int64_t>(2 * shape.layers));
  buffer_ = ggml_backend_alloc_ctx_tensors_from_buft(context_, memory);
  if (buffer_ == nullptr) {
    ggml_free(context_);
    throw std::bad_alloc();
  }
}

KeptCells::~KeptCells() {
  ggml_backend_buffer_free(buffer_);
  ggml_free(context_);
}

KeptCells& KeptMemory::Make(llama_seq_id id, size_t tokens) {
  std::unique_ptr<KeptCells>& kept = kept_[id];
  kept.reset();
  kept = std::make_unique<KeptCells>(shape_, tokens, memory_);
  return *kept;
}

KeptCells* KeptMemory::Find(llama_seq_id id) const {
  const auto it = kept_.find(id);
  return it == kept_.end() ? nullptr : it->second.get();
}

size_t KeptMemory::Bytes(llama_seq_id id) const {
  const KeptCells* kept = Find(id);
  return kept == nullptr ? 0 : shape_.bytes(kept->tokens());
}

bool KeptMemory::Save(llama_seq_id id, uint8_t* to, size_t size) const {
  const KeptCells* kept = Find(id);
  if (kept == nullptr || size != shape_.bytes(kept->tokens())) return false;
  ggml_backend_tensor_get(kept->tensor(), to, 0, size);
  return true;
}

bool KeptMemory::Load(llama_seq_id id, const uint8_t* from, size_t size) {
  const size_t each = shape_.bytes(1);
  if (size == 0 || size % each != 0) return false;
  ggml_backend_tensor_set(Make(id, size / each).tensor(), from, 0, size);
  return true;
}

}  // namespace oi
