// A buffer type for ggml's CPU backend, in which weights lie as tiles.
//
// The CPU backend keeps a list of such types for its own repacking. A tensor is put there if we say
// so when the model is loaded, and from then on its operations come to us; as all others do, once
// there is such a type at all.

#include "buffer_type.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "backend.h"
#include "ggml-backend-impl.h"
#include "ggml-cpu.h"
#include "ggml-impl.h"
#include "graph_passes.h"
#include "op_params.h"
#include "products.h"
#include "tensor_ops.h"

namespace oi::kernels {
namespace {

class OurOperations : public ggml::cpu::extra_buffer_type {
 public:
  // Asked for operations with a source in one of our buffers: when llama.cpp looks for a place for
  // a tensor (it has no data yet), and for graphs.
  bool supports_op(ggml_backend_dev_t, const ggml_tensor* op) override {
    const ggml_tensor* weights = op->src[0];
    if (op->op != GGML_OP_MUL_MAT && op->op != GGML_OP_MUL_MAT_ID) return false;
    if (!weights->buffer || weights->buffer->buft != BufferType()) return false;
    if (weights->data == nullptr && !IsUsedHere()) return false;
    if (op->op == GGML_OP_MUL_MAT && weights->ne[2] != 1) return false;
    const ggml_tensor* columns = op->src[1];
    if (columns->buffer && !ggml_backend_buft_is_host(columns->buffer->buft)) return false;
    return columns->type == GGML_TYPE_F32 && HasProduct(weights) && KnowsParams(op, kProductSlots);
  }

  ggml::cpu::tensor_traits* get_tensor_traits(const ggml_tensor* op) override {
    switch (op->op) {
      case GGML_OP_FLASH_ATTN_EXT:
        return &attention_;
      case GGML_OP_ROPE:
        return &rope_;
      case GGML_OP_RMS_NORM:
        return &norm_;
      case GGML_OP_MUL:
        return ComputesNorm(op) ? &norm_ : nullptr;
      case GGML_OP_GLU:
        if (ComputesProducts(op)) return &gated_products_;
        return IsGelu(op) ? &gelu_ : nullptr;
      case GGML_OP_UNARY:
        return IsGelu(op) ? &gelu_ : nullptr;
      case GGML_OP_MUL_MAT:
      case GGML_OP_MUL_MAT_ID:
        if (IsTiledProduct(op)) return &products_;
        return &dependent_;
      default:
        return IsRowwise(op) ? nullptr : &dependent_;
    }
  }

 private:
  MatrixProducts products_;
  GatedProducts gated_products_;
  AttentionOp attention_;
  NormOp norm_;
  GeluOp gelu_;
  RopeOp rope_;
  DependentOp dependent_;
};

void SetTensor(ggml_backend_buffer_t, ggml_tensor* tensor, const void* data, size_t offset,
               size_t size) {
  SetWeights(tensor, data, offset, size);
}

const char* Name(ggml_backend_buffer_type_t) { return "CPU_OI"; }

// llama.cpp does so with what it knows to be RAM, which this type is not for it.
void Lock(ggml_backend_buffer_t buffer, size_t size) {
  if (mlock(ggml_backend_buffer_get_base(buffer), size) == 0) return;
  GGML_LOG_WARN("failed to mlock %zu bytes of converted weights: %s\n", size, strerror(errno));
}

ggml_backend_buffer_t Allocate(ggml_backend_buffer_type_t type, size_t size) {
  ggml_backend_buffer_t buffer =
      ggml_backend_buft_alloc_buffer(ggml_backend_cpu_buffer_type(), size);
  if (buffer == nullptr) return nullptr;
  if (IsLockedHere()) Lock(buffer, size);
  buffer->buft = type;
  buffer->iface.set_tensor = SetTensor;
  // Nobody reads weights back.
  buffer->iface.get_tensor = nullptr;
  buffer->iface.cpy_tensor = nullptr;
  return buffer;
}

size_t AllocSize(ggml_backend_buffer_type_t, const ggml_tensor* tensor) {
  return BytesOfTiles(tensor);
}

size_t Alignment(ggml_backend_buffer_type_t) { return 64; }

}  // namespace

bool IsTiledProduct(const ggml_tensor* op) {
  if (op->op != GGML_OP_MUL_MAT && op->op != GGML_OP_MUL_MAT_ID) return false;
  const ggml_backend_buffer* buffer = op->src[0]->buffer;
  return buffer != nullptr && buffer->buft == BufferType();
}

ggml_backend_buffer_type_t BufferType() {
  static OurOperations operations;
  static ggml_backend_buffer_type type{
      {Name, Allocate, Alignment, nullptr, AllocSize, nullptr},
      ggml_backend_reg_dev_get(ggml_backend_cpu_reg(), 0),
      static_cast<ggml::cpu::extra_buffer_type*>(&operations),
  };
  return &type;
}

}  // namespace oi::kernels
