// Which kernels this CPU has. Asked once.

#include <cpuid.h>

#include "attention.h"
#include "avx2/kernels.h"
#include "product.h"
#include "rows.h"
#include "sets.h"

#ifdef OI_KERNELS_AVX512
#include "avx512/kernels.h"
#endif
#ifdef OI_KERNELS_AMX
#include "amx/kernels.h"
#endif

namespace oi::kernels {
namespace {

// __builtin_cpu_supports() also asks whether the operating system keeps the wide registers.
bool HasAvx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("f16c");
}

#ifdef OI_KERNELS_AVX_VNNI
bool HasAvxVnni() {
  // Not every compiler's __builtin_cpu_supports() knows it.
  unsigned a = 0, b = 0, c = 0, d = 0;
  return HasAvx2() && __get_cpuid_count(7, 1, &a, &b, &c, &d) != 0 && (a & 1u << 4) != 0;
}

const ProductKernel* AvxVnniProduct(Format format) {
  const ProductKernel* quantized = avx2::Int8ProductVnni(format);
  return quantized != nullptr ? quantized : avx2::FloatProduct(format);
}
#endif

const ProductKernel* Avx2Product(Format format) {
  const ProductKernel* quantized = avx2::Int8Product(format);
  return quantized != nullptr ? quantized : avx2::FloatProduct(format);
}

#ifdef OI_KERNELS_AVX512
bool HasAvx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512vnni");
}

bool HasAvx512Bf16() { return HasAvx512() && __builtin_cpu_supports("avx512bf16"); }

const ProductKernel* Avx512Product(Format format) {
  const ProductKernel* quantized = avx512::Int8Product(format);
  return quantized != nullptr ? quantized : avx512::FloatProduct(format);
}

const ProductKernel* Avx512Bf16Product(Format format) {
  return format == Format::kBF16 ? avx512::Bf16Product() : Avx512Product(format);
}
#endif

#ifdef OI_KERNELS_AMX
bool HasAmx() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kNeeded = 1u << 22 | 1u << 24;  // BF16 and TILE
  return HasAvx512Bf16() && __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 &&
         (d & kNeeded) == kNeeded && amx::Allowed();
}

// With few columns, AVX-512 is faster than unpacking for tile registers.
const ProductKernel* AmxProduct(Format format) {
  const ProductKernel* product = amx::Product(format);
  return product != nullptr ? product : Avx512Product(format);
}
#endif

constexpr KernelSet kSets[] = {
#ifdef OI_KERNELS_AMX
    {"amx", "AMX and AVX-512 VNNI", HasAmx, AmxProduct, Avx512Bf16Product, amx::Attention,
     avx512::Attention, avx512::Rows, avx512::PartAttention},
#endif
#ifdef OI_KERNELS_AVX512
    {"avx512-bf16", "AVX-512 VNNI and BF16", HasAvx512Bf16, Avx512Bf16Product, Avx512Bf16Product,
     avx512::Attention, avx512::Attention, avx512::Rows, avx512::PartAttention},
    {"avx512", "AVX-512 VNNI", HasAvx512, Avx512Product, Avx512Product, avx512::Attention,
     avx512::Attention, avx512::Rows, avx512::PartAttention},
#endif
#ifdef OI_KERNELS_AVX_VNNI
    {"avx-vnni", "AVX2, FMA, F16C and AVX-VNNI", HasAvxVnni, AvxVnniProduct, AvxVnniProduct,
     avx2::Attention, avx2::Attention, avx2::Rows, avx2::PartAttention},
#endif
    {"avx2", "AVX2, FMA and F16C", HasAvx2, Avx2Product, Avx2Product, avx2::Attention,
     avx2::Attention, avx2::Rows, avx2::PartAttention},
};

const KernelSet* asked_for = nullptr;

// Null if none runs here.
const KernelSet* ThisSet() {
  static const KernelSet* const set = []() -> const KernelSet* {
    if (asked_for != nullptr) return asked_for;
    __builtin_cpu_init();
    for (const KernelSet& one : kSets) {
      if (one.runs_here()) return &one;
    }
    return nullptr;
  }();
  return set;
}

}  // namespace

std::span<const KernelSet> AllSets() { return kSets; }

void UseSet(const KernelSet& set) { asked_for = &set; }

const ProductKernel* FindProduct(Format format, int64_t rows, bool exact) {
  const KernelSet* set = ThisSet();
  if (set == nullptr) return nullptr;
  return rows < kVocabularyRows && !exact ? set->product(format) : set->vocabulary(format);
}

const AttentionKernel* FindAttention(CacheFormat format) {
  const KernelSet* set = ThisSet();
  if (set == nullptr) return nullptr;
  return format == CacheFormat::kF32 ? set->float_attention() : set->attention();
}

const RowKernel* FindRows() {
  const KernelSet* set = ThisSet();
  return set != nullptr ? set->rows() : nullptr;
}

const PartAttentionKernel* FindPartAttention() {
  const KernelSet* set = ThisSet();
  return set != nullptr ? set->part_attention() : nullptr;
}

const char* InstructionSet() {
  const KernelSet* set = ThisSet();
  return set != nullptr ? set->instructions : "";
}

}  // namespace oi::kernels
