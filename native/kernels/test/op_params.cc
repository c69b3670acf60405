// oi-op-params: in which slots of op_params llama.cpp keeps what our CPU kernels read there. Prints
// TAP, and ends with 1 if anything has moved.
//
// Uses ggml's public interface alone, so it compiles against trees that the kernels do not.

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string>

#include "ggml.h"

namespace {

constexpr int kSlots = GGML_MAX_OP_PARAMS / sizeof(int32_t);

int count = 0;
int failures = 0;

int32_t Bits(float value) {
  int32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

struct Slot {
  const char* name;
  int32_t bits;
};

// Each slot of `expected`, and 0 in all others.
void Check(const ggml_tensor* op, const std::string& name, const std::map<int, Slot>& expected) {
  for (const auto& [slot, value] : expected) {
    const bool ok = op->op_params[slot] == value.bits;
    std::printf("%sok %d - %s: %s in slot %d\n", ok ? "" : "not ", ++count, name.c_str(),
                value.name, slot);
    failures += ok ? 0 : 1;
  }
  for (int slot = 0; slot < kSlots; ++slot) {
    if (expected.count(slot) > 0 || op->op_params[slot] == 0) continue;
    std::printf("not ok %d - %s: 0 in slot %d, which nobody knows; it is %d\n", ++count,
                name.c_str(), slot, op->op_params[slot]);
    ++failures;
  }
}

struct FreeContext {
  void operator()(ggml_context* context) const { ggml_free(context); }
};

}  // namespace

int main() {
  const std::unique_ptr<ggml_context, FreeContext> owner(
      ggml_init({size_t{1} << 20, nullptr, true}));
  ggml_context* context = owner.get();
  const auto floats = [context](int64_t ne0, int64_t ne1, int64_t ne2) {
    return ggml_new_tensor_3d(context, GGML_TYPE_F32, ne0, ne1, ne2);
  };

  Check(ggml_rms_norm(context, floats(64, 2, 1), 0.25f), "RMS_NORM",
        {{0, {"epsilon", Bits(0.25f)}}});
  Check(ggml_mul(context, floats(64, 2, 1), floats(64, 2, 1)), "MUL", {});
  Check(ggml_swiglu_split(context, floats(64, 2, 1), floats(64, 2, 1)), "GLU",
        {{0, {"kind", GGML_GLU_OP_SWIGLU}}});
  Check(ggml_geglu_swapped(context, floats(64, 2, 1)), "GLU of halves",
        {{0, {"kind", GGML_GLU_OP_GEGLU}}, {1, {"swapped", 1}}});
  Check(ggml_gelu(context, floats(64, 2, 1)), "UNARY", {{0, {"kind", GGML_UNARY_OP_GELU}}});

  ggml_tensor* product = ggml_mul_mat(context, floats(64, 8, 1), floats(64, 2, 1));
  ggml_tensor* ids = ggml_new_tensor_2d(context, GGML_TYPE_I32, 2, 2);
  ggml_tensor* experts = ggml_mul_mat_id(context, floats(64, 8, 4), floats(64, 2, 2), ids);
  for (ggml_tensor* op : {product, experts}) {
    ggml_prec_set_acc(op, GGML_PREC_F32);
    ggml_prec_set_src(op, GGML_PREC_F32, 1);
    Check(
        op, op == product ? "MUL_MAT" : "MUL_MAT_ID",
        {{0, {"precision of sums", GGML_PREC_F32}}, {3, {"precision of columns", GGML_PREC_F32}}});
  }

  ggml_tensor* cells = ggml_new_tensor_3d(context, GGML_TYPE_F16, 64, 32, 1);
  ggml_tensor* mask = ggml_new_tensor_2d(context, GGML_TYPE_F16, 32, 64);
  ggml_tensor* attention =
      ggml_flash_attn_ext(context, floats(64, 2, 1), cells, cells, mask, 0.5f, 0.25f, 0.75f);
  ggml_prec_set_acc(attention, GGML_PREC_F32);
  Check(attention, "FLASH_ATTN_EXT",
        {{0, {"scale", Bits(0.5f)}},
         {1, {"ALiBi's bias", Bits(0.25f)}},
         {2, {"soft cap", Bits(0.75f)}},
         {3, {"precision", GGML_PREC_F32}}});

  ggml_tensor* positions = ggml_new_tensor_1d(context, GGML_TYPE_I32, 3);
  std::map<int, Slot> rope{{1, {"number of rotated values", 32}},
                           {2, {"mode", GGML_ROPE_TYPE_NEOX}},
                           {4, {"trained context", 4096}},
                           {5, {"base", Bits(10'000)}},
                           {6, {"scale", Bits(0.5f)}},
                           {7, {"YaRN's share", Bits(0.25f)}},
                           {8, {"YaRN's factor", Bits(0.75f)}},
                           {9, {"fast", Bits(32)}},
                           {10, {"slow", Bits(2)}}};
  Check(ggml_rope_ext(context, floats(64, 2, 3), positions, nullptr, 32, GGML_ROPE_TYPE_NEOX, 4096,
                      10'000, 0.5f, 0.25f, 0.75f, 32, 2),
        "ROPE", rope);
  ggml_tensor* places = ggml_new_tensor_1d(context, GGML_TYPE_I32, 12);
  int sections[] = {8, 4, 3, 1};
  rope[2].bits = GGML_ROPE_TYPE_MROPE;
  for (int i = 0; i < 4; ++i) rope[11 + i] = {"section", sections[i]};
  ggml_tensor* multi =
      ggml_rope_multi(context, floats(64, 2, 3), places, nullptr, 32, sections,
                      GGML_ROPE_TYPE_MROPE, 4096, 10'000, 0.5f, 0.25f, 0.75f, 32, 2);
  ggml_rope_set_offset(multi, 16);
  rope[15] = {"offset", 16};
  Check(multi, "ROPE of images", rope);

  std::printf("1..%d\n", count);
  return failures == 0 ? 0 : 1;
}
