// The sets of kernels of this build, one for each set of instructions.

#pragma once

#include <span>

#include "attention.h"
#include "part_attention.h"
#include "product.h"
#include "rows.h"

namespace oi::kernels {

struct KernelSet {
  const char* name;          // for the tools: "avx2"
  const char* instructions;  // for people: "AVX2, FMA and F16C"
  bool (*runs_here)();       // whether this CPU and its operating system have them
  const ProductKernel* (*product)(Format format);
  // For kVocabularyRows and more. Does not round weights.
  const ProductKernel* (*vocabulary)(Format format);
  const AttentionKernel* (*attention)();
  const AttentionKernel* (*float_attention)();  // of a cache of floats; keeps all their bits
  const RowKernel* (*rows)();
  const PartAttentionKernel* (*part_attention)();
};

// Fastest first. FindProduct(), FindAttention() and FindRows() ask the first that runs here.
std::span<const KernelSet> AllSets();

// Tests and benchmarks: from now on this set is asked, before anything else asks for one.
void UseSet(const KernelSet& set);

}  // namespace oi::kernels
