#include "type_advice.h"

#include "../model.h"
#include "llama.h"
#include "placement.h"

namespace oi {

// By figures that others have published: on an H100, matmuls of BF16 reach 700 Tflop/s, those of
// quantized weights 150 to 225.
std::string TypeAdvice(const Model& model, uint64_t room) {
  const llama_ftype type = llama_model_ftype(model.get());
  if (type == LLAMA_FTYPE_ALL_F32 || type == LLAMA_FTYPE_MOSTLY_BF16) return "";
  const std::string weights = std::string(llama_ftype_name(type)) + " weights: ";
  if (type == LLAMA_FTYPE_MOSTLY_F16) {
    return weights + "some GPUs sum their products in half precision, those of BF16 in single";
  }
  const uint64_t bytes = 2 * llama_model_n_params(model.get());
  if (bytes > room) return "";
  return weights + "in BF16 they would take " + Gigabytes(bytes) +
         ", fit too, and long texts would be read faster";
}

}  // namespace oi
