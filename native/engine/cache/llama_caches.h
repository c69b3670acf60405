// The caches of attention inside a llama.cpp memory, by its own headers: for files that are built
// with the pinned tree alone.

#pragma once

#include <vector>

#include "llama-kv-cache-iswa.h"
#include "llama-kv-cache.h"
#include "llama-memory-hybrid-iswa.h"
#include "llama-memory-hybrid.h"

namespace oi {

// None of a kind that is not known.
inline std::vector<llama_kv_cache*> CachesOf(llama_memory_i* memory) {
  if (auto* cache = dynamic_cast<llama_kv_cache*>(memory)) return {cache};
  if (auto* both = dynamic_cast<llama_kv_cache_iswa*>(memory)) {
    return {both->get_base(), both->get_swa()};
  }
  if (auto* hybrid = dynamic_cast<llama_memory_hybrid*>(memory)) {
    return CachesOf(hybrid->get_mem_attn());
  }
  if (auto* hybrid = dynamic_cast<llama_memory_hybrid_iswa*>(memory)) {
    return CachesOf(hybrid->get_mem_attn());
  }
  return {};
}

}  // namespace oi
