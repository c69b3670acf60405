// A buffer type for ggml's CPU backend, in which weights lie as tiles.
//
// The CPU backend keeps a list of such types for its own repacking; ours goes first. A tensor is
// put there if we say so when the model is loaded, and from then on its operations come to us.
// This folder alone uses ggml's private headers; CMakeLists.txt builds it for the pinned tree only.

#include "buffer_type.h"

#include "../kernels.h"
#include "../product.h"
#include "attention_op.h"
#include "ggml-cpu.h"
#include "matrix_products.h"

namespace oi::kernels {
namespace {

thread_local bool use_when_loading = false;

class OurOperations : public ggml::cpu::extra_buffer_type {
 public:
  // Asked for operations with a source in one of our buffers: when llama.cpp looks for a place for
  // a tensor (it has no data yet), and for graphs.
  bool supports_op(ggml_backend_dev_t, const ggml_tensor* op) override {
    const ggml_tensor* weights = op->src[0];
    if (op->op != GGML_OP_MUL_MAT && op->op != GGML_OP_MUL_MAT_ID) return false;
    if (!weights->buffer || weights->buffer->buft != BufferType()) return false;
    if (weights->data == nullptr && !use_when_loading) return false;
    if (op->op == GGML_OP_MUL_MAT && weights->ne[2] != 1) return false;
    const ggml_tensor* columns = op->src[1];
    if (columns->buffer && !ggml_backend_buft_is_host(columns->buffer->buft)) return false;
    return columns->type == GGML_TYPE_F32 && HasProduct(weights);
  }

  ggml::cpu::tensor_traits* get_tensor_traits(const ggml_tensor* op) override {
    if (op->op == GGML_OP_FLASH_ATTN_EXT) return &attention_;
    const bool product = op->op == GGML_OP_MUL_MAT || op->op == GGML_OP_MUL_MAT_ID;
    const bool ours = product && op->src[0]->buffer && op->src[0]->buffer->buft == BufferType();
    return ours ? &products_ : nullptr;
  }

 private:
  MatrixProducts products_;
  AttentionOp attention_;
};

void SetTensor(ggml_backend_buffer_t, ggml_tensor* tensor, const void* data, size_t offset,
               size_t size) {
  SetWeights(tensor, data, offset, size);
}

const char* Name(ggml_backend_buffer_type_t) { return "CPU_OI"; }

ggml_backend_buffer_t Allocate(ggml_backend_buffer_type_t type, size_t size) {
  ggml_backend_buffer_t buffer =
      ggml_backend_buft_alloc_buffer(ggml_backend_cpu_buffer_type(), size);
  if (buffer == nullptr) return nullptr;
  buffer->buft = type;
  buffer->iface.set_tensor = SetTensor;
  // Nobody reads weights back.
  buffer->iface.get_tensor = nullptr;
  buffer->iface.cpy_tensor = nullptr;
  return buffer;
}

size_t Alignment(ggml_backend_buffer_type_t) { return 64; }

// Once per process, before llama.cpp copies the list of types for the first time.
void Register() {
  static const bool once = [] {
    if (InstructionSet()[0] == '\0') return false;
    auto& types = ggml_backend_cpu_get_extra_buffer_types();
    types.insert(types.begin(), BufferType());
    return true;
  }();
  (void)once;
}

}  // namespace

ggml_backend_buffer_type_t BufferType() {
  static OurOperations operations;
  static ggml_backend_buffer_type type{
      {Name, Allocate, Alignment, nullptr, nullptr, nullptr},
      ggml_backend_reg_dev_get(ggml_backend_cpu_reg(), 0),
      static_cast<ggml::cpu::extra_buffer_type*>(&operations),
  };
  return &type;
}

LoadScope::LoadScope(bool use) : before_(use_when_loading) {
  Register();
  use_when_loading = use;
}

LoadScope::~LoadScope() { use_when_loading = before_; }

AttentionScope::AttentionScope(const ggml_threadpool* pool) : pool_(pool) {
  Register();
  if (pool_ != nullptr) SetAttentionPool(pool_, true);
}

AttentionScope::~AttentionScope() {
  if (pool_ != nullptr) SetAttentionPool(pool_, false);
}

bool AttentionScope::takes_all() const { return TakesAllAttention(pool_); }

std::string Description() { return InstructionSet(); }

}  // namespace oi::kernels
