#include "ggml-cpu-impl.h"
#include "pools.h"
#include "tensor_ops.h"

namespace oi::kernels {

bool IsRowwise(const ggml_tensor* op) {
  switch (op->op) {
    case GGML_OP_NONE:
    case GGML_OP_DUP:
    case GGML_OP_ADD:
    case GGML_OP_ADD_ID:
    case GGML_OP_ADD1:
    case GGML_OP_SUB:
    case GGML_OP_MUL:
    case GGML_OP_DIV:
    case GGML_OP_SQR:
    case GGML_OP_SQRT:
    case GGML_OP_LOG:
    case GGML_OP_SIN:
    case GGML_OP_COS:
    case GGML_OP_SUM_ROWS:
    case GGML_OP_MEAN:
    case GGML_OP_ARGMAX:
    case GGML_OP_REPEAT:
    case GGML_OP_CONCAT:
    case GGML_OP_NORM:
    case GGML_OP_RMS_NORM:
    case GGML_OP_L2_NORM:
    case GGML_OP_SCALE:
    case GGML_OP_CPY:
    case GGML_OP_CONT:
    case GGML_OP_RESHAPE:
    case GGML_OP_VIEW:
    case GGML_OP_PERMUTE:
    case GGML_OP_TRANSPOSE:
    case GGML_OP_GET_ROWS:
    case GGML_OP_SET_ROWS:
    case GGML_OP_SOFT_MAX:
    case GGML_OP_ROPE:
    case GGML_OP_CLAMP:
    case GGML_OP_ARGSORT:
    case GGML_OP_TOP_K:
    case GGML_OP_LEAKY_RELU:
    case GGML_OP_FILL:
    case GGML_OP_SSM_CONV:
    case GGML_OP_UNARY:
    case GGML_OP_GLU:
      return true;
    default:
      return false;
  }
}

bool DependentOp::compute_forward(ggml_compute_params* params, ggml_tensor*) {
  Pool* pool = params->ith == 0 ? FindPool(params->threadpool) : nullptr;
  if (pool != nullptr) ++pool->dependent;
  return false;
}

}  // namespace oi::kernels
