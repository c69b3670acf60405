// What tests and benchmarks of the kernels need of ggml: an operation on tensors of theirs, with
// weights in a buffer of a chosen type, computed by a number of threads.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "../format.h"
#include "../kernels.h"
#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "ggml.h"

namespace oi::kernels::test {

struct Quantized {
  ggml_type type;
  Format format;
};

constexpr Quantized kQuantized[] = {
    {GGML_TYPE_Q8_0, Format::kQ8_0},       {GGML_TYPE_Q4_0, Format::kQ4_0},
    {GGML_TYPE_Q4_1, Format::kQ4_1},       {GGML_TYPE_Q5_0, Format::kQ5_0},
    {GGML_TYPE_Q5_1, Format::kQ5_1},       {GGML_TYPE_Q2_K, Format::kQ2_K},
    {GGML_TYPE_Q3_K, Format::kQ3_K},       {GGML_TYPE_Q4_K, Format::kQ4_K},
    {GGML_TYPE_Q5_K, Format::kQ5_K},       {GGML_TYPE_Q6_K, Format::kQ6_K},
    {GGML_TYPE_IQ1_S, Format::kIQ1_S},     {GGML_TYPE_IQ1_M, Format::kIQ1_M},
    {GGML_TYPE_IQ2_XXS, Format::kIQ2_XXS}, {GGML_TYPE_IQ2_XS, Format::kIQ2_XS},
    {GGML_TYPE_IQ2_S, Format::kIQ2_S},     {GGML_TYPE_IQ3_XXS, Format::kIQ3_XXS},
    {GGML_TYPE_IQ3_S, Format::kIQ3_S},     {GGML_TYPE_IQ4_NL, Format::kIQ4_NL},
    {GGML_TYPE_IQ4_XS, Format::kIQ4_XS},   {GGML_TYPE_MXFP4, Format::kMXFP4},
    {GGML_TYPE_NVFP4, Format::kNVFP4},     {GGML_TYPE_TQ2_0, Format::kTQ2_0},
};

// Whether a type's kernels share no code with another's but the products'.
bool HasOwnCode(ggml_type type);

enum class Side { kOurs, kStock };

using Floats = std::vector<float>;

struct FreeContext {
  void operator()(ggml_context* context) const { ggml_free(context); }
};
struct FreeBuffer {
  void operator()(ggml_backend_buffer* buffer) const { ggml_backend_buffer_free(buffer); }
};

// One operation, ready to be computed again and again.
class Operation {
 public:
  // `weights` is filled with `bytes` as a file has them; it is put where llama.cpp would put it, or
  // with us.
  static std::unique_ptr<Operation> Product(Side side, ggml_type type, int64_t rows, int64_t k,
                                            const std::vector<uint8_t>& bytes,
                                            const Floats& columns);
  // Experts one behind the other; `ids` [tokens][used]; columns [tokens][used] of k values.
  static std::unique_ptr<Operation> Experts(Side side, ggml_type type, int64_t rows, int64_t k,
                                            int64_t experts, const std::vector<uint8_t>& bytes,
                                            const Floats& columns, const std::vector<int32_t>& ids,
                                            int64_t used);

  struct GatedCase {
    ggml_type type = GGML_TYPE_Q8_0;
    int64_t rows = 16;
    int64_t k = 64;
    std::vector<uint8_t> gates;  // of weights, as a file has them; experts one behind the other
    std::vector<uint8_t> values;
    Floats columns;            // [tokens][k]
    std::vector<int32_t> ids;  // [tokens][used], of experts; none: one matrix
    int64_t used = 1;
    int64_t experts = 1;
    bool added = false;  // whether the gates' products are added to the results
  };
  // The SwiGLU of two products. The memory of these holds NaN before they are computed.
  static std::unique_ptr<Operation> GatedProducts(const GatedCase& gated);
  // A SwiGLU alone, by llama.cpp.
  static std::unique_ptr<Operation> Swiglu(const Floats& gates, const Floats& values);

  enum class GeluKind {
    kAlone,          // of `gates`; `values` has none
    kGate,           // times `values`
    kHalves,         // the same, of rows that hold gates and then values
    kSwappedHalves,  // or values and then gates
  };
  static std::unique_ptr<Operation> Gelu(GeluKind kind, const Floats& gates, const Floats& values,
                                         int64_t length);

  struct AttentionCase {
    ggml_type type = GGML_TYPE_F16;
    bool cast = false;  // keys and values are of 32 bits, and cast to half precision in the graph
    int64_t size = 128;
    int64_t tokens = 1;
    int64_t heads = 1;
    int64_t key_heads = 1;
    int64_t cells = 32;
    Floats queries;              // [heads][tokens][size]
    Floats keys;                 // [cells][key_heads][size]
    Floats values;               // [cells][key_heads][size]
    Floats mask;                 // [tokens][cells]
    Floats sinks;                // [heads], or none
    std::vector<int64_t> ranks;  // [cells], in their sequences; none: nobody knows them
  };
  // Of a cast, what would be its result holds NaN before it is computed.
  static std::unique_ptr<Operation> Attention(Side side, const AttentionCase& attention);

  // Rows of `length`, and then times `weights` (of one row) unless there are none.
  static std::unique_ptr<Operation> Norm(Side side, const Floats& values, int64_t length,
                                         const Floats& weights, float epsilon);

  struct RopeCase {
    int mode = GGML_ROPE_TYPE_NEOX;
    int64_t size = 128;
    int turned = 128;  // of a head's values
    int64_t heads = 1;
    int64_t stride = 0;              // heads that a token has in memory, or 0: `heads`
    std::vector<int32_t> positions;  // [tokens], or [4][tokens] with M-RoPE
    Floats factors;                  // [turned / 2], or none
    float base = 10'000;
    float scale = 1;
    float extrapolated = 0;  // YaRN's share
    Floats values;           // [tokens][stride][size]
  };
  static std::unique_ptr<Operation> Rope(const RopeCase& rope);

  // Of what gives the result.
  void SetParam(int slot, int32_t value) { result_->op_params[slot] = value; }
  void MakeExact();  // a product, before it is computed

  void Compute(Side side, int threads);
  Floats Result() const;

 private:
  explicit Operation(size_t numbers);  // of 4 bytes, of inputs and results together
  void Finish(ggml_tensor* result);
  ggml_tensor* Input(ggml_type type, int64_t ne0, int64_t ne1, int64_t ne2, const Floats& values);
  void PlaceWeights(Side side, ggml_tensor* weights, ggml_tensor* result,
                    const std::vector<uint8_t>& bytes);
  ggml_tensor* SpoiledResult(ggml_tensor* operation);

  std::unique_ptr<ggml_context, FreeContext> inputs_;
  std::unique_ptr<ggml_context, FreeContext> graph_context_;
  std::vector<std::unique_ptr<ggml_backend_buffer, FreeBuffer>> weights_buffers_;
  std::vector<uint8_t> work_;
  ggml_cgraph* graph_ = nullptr;
  ggml_tensor* result_ = nullptr;
  std::unique_ptr<CellOrder> order_;
};

// Random numbers, normally distributed, and such rows as a file of this type would have them.
// At most 144. Of every other matrix the last tile lacks rows.
int64_t RandomRows(std::mt19937& random);

Floats RandomFloats(size_t count, float deviation, std::mt19937& random);
std::vector<uint8_t> Encode(ggml_type type, const Floats& values, int64_t k);
Floats Decode(ggml_type type, const std::vector<uint8_t>& bytes);

// Makes the quants of rows of a quantized type the largest and the smallest that there are, block
// by block; scales stay.
void MakeExtreme(ggml_type type, std::vector<uint8_t>& bytes, std::mt19937& random);

}  // namespace oi::kernels::test
