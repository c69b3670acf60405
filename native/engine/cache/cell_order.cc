// llama.cpp's own headers, not its interface, know where cells lie: this file is built with the
// pinned tree alone, with any other cell_order_unknown.cc.

#include "cell_order.h"

#include <unordered_map>
#include <utility>
#include <vector>

#include "llama_caches.h"

namespace oi {
namespace {

class CacheOrder final : public kernels::CellOrder {
 public:
  explicit CacheOrder(std::vector<llama_kv_cache*> caches) : caches_(std::move(caches)) {
    for (size_t i = 0; i < caches_.size(); ++i) {
      for (const uint32_t layer : caches_[i]->get_layer_ids()) {
        numbers_[caches_[i]->get_k_storage(static_cast<int32_t>(layer))->data] =
            static_cast<int>(i);
      }
    }
  }

  int Find(const void* keys) const override {
    const auto it = numbers_.find(keys);
    return it == numbers_.end() ? -1 : it->second;
  }

  void Read(int cache, int64_t count, int64_t* ranks) const override {
    const llama_kv_cells& cells = caches_[static_cast<size_t>(cache)]->get_cells(0);
    for (int64_t i = 0; i < count; ++i) {
      const auto cell = static_cast<uint32_t>(i);
      if (cells.is_empty(cell)) {
        ranks[i] = -1;
        continue;
      }
      // Tokens of an image have one position, and a line and a column each, all below a million.
      const llama_kv_cell_ext& place = cells.ext_get(cell);
      ranks[i] = (static_cast<int64_t>(cells.pos_get(cell)) << 40) +
                 (static_cast<int64_t>(place.y) << 20) + place.x;
    }
  }

 private:
  const std::vector<llama_kv_cache*> caches_;
  std::unordered_map<const void*, int> numbers_;  // of the caches, by the keys of each layer
};

}  // namespace

std::unique_ptr<kernels::CellOrder> CellOrderOf(const llama_context* context) {
  std::vector<llama_kv_cache*> caches = CachesOf(llama_get_memory(context));
  if (caches.empty()) return nullptr;
  return std::make_unique<CacheOrder>(std::move(caches));
}

}  // namespace oi
