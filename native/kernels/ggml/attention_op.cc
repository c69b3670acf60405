#include <cstring>
#include <memory>
#include <new>
#include <optional>

#include "../attention.h"
#include "graph_passes.h"
#include "op_params.h"
#include "pools.h"
#include "tensor_ops.h"

namespace oi::kernels {
namespace {

struct AlignedDelete {
  void operator()(uint8_t* memory) const { ::operator delete[](memory, std::align_val_t{64}); }
};

// This thread's; grows to what any operation needed.
uint8_t* ThreadScratch(size_t bytes) {
  thread_local std::unique_ptr<uint8_t[], AlignedDelete> memory;
  thread_local size_t size = 0;
  if (size < bytes) {
    memory.reset();
    memory.reset(static_cast<uint8_t*>(::operator new[](bytes, std::align_val_t{64})));
    size = bytes;
  }
  return memory.get();
}

std::optional<CacheFormat> FormatOf(ggml_type type) {
  if (type == GGML_TYPE_F16) return CacheFormat::kF16;
  if (type == GGML_TYPE_BF16) return CacheFormat::kBF16;
  if (type == GGML_TYPE_F32) return CacheFormat::kF32;
  return std::nullopt;
}

std::optional<AttentionShape> ShapeOf(const ggml_tensor* op) {
  const ggml_tensor* query = op->src[0];
  const ggml_tensor* key = op->src[1];
  const ggml_tensor* value = op->src[2];
  const ggml_tensor* mask = op->src[3];
  const ggml_tensor* sinks = op->src[4];
  float params[3];  // scale, ALiBi's bias, soft cap
  std::memcpy(params, op->op_params, sizeof(params));
  const std::optional<CacheFormat> format = FormatOf(key->type);
  const bool known = format && value->type == key->type && query->type == GGML_TYPE_F32 &&
                     params[1] == 0.0f && params[2] == 0.0f && KnowsParams(op, kAttentionSlots);
  if (!known) return std::nullopt;
  // One stream of sequences, as a unified cache has it.
  const bool one = query->ne[3] == 1 && key->ne[3] == 1 && value->ne[3] == 1;
  const bool sizes = key->ne[0] % 16 == 0 && value->ne[0] % 16 == 0 && key->ne[2] == value->ne[2] &&
                     query->ne[2] % key->ne[2] == 0;
  const size_t bytes = BytesOf(*format);
  const bool rows = query->nb[0] == sizeof(float) && key->nb[0] == bytes && value->nb[0] == bytes;
  const bool masked = mask == nullptr || (mask->type == GGML_TYPE_F16 && mask->ne[2] == 1 &&
                                          mask->ne[3] == 1 && mask->nb[0] == 2);
  const bool sunk =
      sinks == nullptr || (sinks->type == GGML_TYPE_F32 && ggml_is_contiguous(sinks) &&
                           ggml_nelements(sinks) == query->ne[2]);
  if (!one || !sizes || !rows || !masked || !sunk || !ggml_is_contiguous(op)) return std::nullopt;

  AttentionShape shape;
  shape.key_size = key->ne[0];
  shape.value_size = value->ne[0];
  shape.tokens = query->ne[1];
  shape.heads = query->ne[2];
  shape.key_heads = key->ne[2];
  shape.cells = key->ne[1];
  shape.format = *format;
  shape.scale = params[0];
  shape.queries = static_cast<const uint8_t*>(query->data);
  shape.query_token_stride = query->nb[1];
  shape.query_head_stride = query->nb[2];
  shape.keys = static_cast<const uint8_t*>(key->data);
  shape.key_cell_stride = key->nb[1];
  shape.key_head_stride = key->nb[2];
  shape.values = static_cast<const uint8_t*>(value->data);
  shape.value_cell_stride = value->nb[1];
  shape.value_head_stride = value->nb[2];
  if (mask != nullptr) {
    shape.mask = static_cast<const uint8_t*>(mask->data);
    shape.mask_token_stride = mask->nb[1];
  }
  if (sinks != nullptr) shape.sinks = static_cast<const float*>(sinks->data);
  shape.results = static_cast<float*>(op->data);
  return shape;
}

bool IsToHalf(const ggml_tensor* cast) {
  return cast->op == GGML_OP_CPY && cast->type == GGML_TYPE_F16 &&
         cast->src[0]->type == GGML_TYPE_F32 && ggml_are_same_shape(cast, cast->src[0]);
}

}  // namespace

void SkipCasts(ggml_cgraph* graph) {
  if (FindAttention(CacheFormat::kF32) == nullptr) return;
  for (int i = 0; i < ggml_graph_n_nodes(graph); ++i) {
    ggml_tensor* op = ggml_graph_node(graph, i);
    if (op->op != GGML_OP_FLASH_ATTN_EXT) continue;
    ggml_tensor* const key = op->src[1];
    ggml_tensor* const value = op->src[2];
    if (!IsToHalf(key) || !IsToHalf(value)) continue;
    op->src[1] = key->src[0];
    op->src[2] = value->src[0];
    if (ShapeOf(op)) {
      key->flags &= ~GGML_TENSOR_FLAG_COMPUTE;
      value->flags &= ~GGML_TENSOR_FLAG_COMPUTE;
    } else {
      op->src[1] = key;
      op->src[2] = value;
    }
  }
}

bool AttentionOp::compute_forward(ggml_compute_params* params, ggml_tensor* op) {
  Pool* pool = FindPool(params->threadpool);
  if (pool == nullptr || params->use_ref) return false;
  const std::optional<AttentionShape> shape = ShapeOf(op);
  const AttentionKernel* kernel = FindAttention(shape ? shape->format : CacheFormat::kF16);
  if (kernel == nullptr) return false;
  if (params->ith == 0) ++(shape ? pool->attention_ours : pool->attention_others);
  if (!shape) return false;
  if (params->ith == 0) {
    if (!pool->cells.Update(*shape) || kernel->pairs) ++pool->dependent;
    ggml_threadpool_chunk_set(params->threadpool, params->nth);
  }
  ggml_barrier(params->threadpool);
  uint8_t* scratch = ThreadScratch(kernel->scratch_bytes(shape->key_size, shape->value_size));
  const int64_t tasks = kernel->tasks(*shape, params->nth);
  for (int64_t task = params->ith; task < tasks;) {
    const AttentionShape seen = pool->cells.SeenBy(*kernel, *shape, params->nth, task);
    kernel->compute(seen, params->nth, task, scratch);
    task = ggml_threadpool_chunk_add(params->threadpool, 1);
  }
  return true;
}

}  // namespace oi::kernels
