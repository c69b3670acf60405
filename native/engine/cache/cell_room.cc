#include "cell_room.h"

#include <algorithm>
#include <utility>

#include "llama_caches.h"

namespace oi {
namespace {

// Cells that attention reads in vain without anything being moved for it.
constexpr uint32_t kLoose = 1024;

class CacheRoom final : public CellRoom {
 public:
  CacheRoom(std::vector<llama_kv_cache*> caches, llama_seq_id first, llama_seq_id last)
      : caches_(std::move(caches)), first_(first), own_(last) {}

  size_t Take(size_t count) override {
    size_t read = 0;
    for (llama_kv_cache* cache : caches_) {
      const llama_kv_cells& cells = cache->get_cells(own_);
      uint32_t lowest = 0;
      while (lowest < cells.size() && !cells.is_empty(lowest)) ++lowest;
      size_t end = cells.used_max_p1();
      if (lowest < cells.size()) {
        // The search begins where a cell was freed, if that is lower than where it would.
        Put(*cache, lowest);
        cache->seq_rm(own_, -1, -1);
        size_t left = count;
        for (uint32_t i = lowest; i < cells.size() && left > 0; ++i) {
          if (!cells.is_empty(i)) continue;
          --left;
          end = std::max<size_t>(end, i + 1);
        }
      }
      read = std::max(read, end);
    }
    return read;
  }

  void Read(size_t cells) override {
    for (llama_kv_cache* cache : caches_) {
      const size_t last = std::min<size_t>(cells, cache->get_size()) - 1;
      if (cache->get_cells(own_).is_empty(static_cast<uint32_t>(last))) {
        Put(*cache, static_cast<uint32_t>(last));
      }
    }
  }

  void Release() override {
    for (llama_kv_cache* cache : caches_) {
      llama_kv_cells& cells = Of(*cache);
      // A cell of one filler is nobody else's, so most are gone with the first.
      for (llama_seq_id id = first_; id <= own_; ++id) {
        if (cells.seq_pos_max(id) < 0) continue;
        for (uint32_t i = 0; i < cells.used_max_p1(); ++i) {
          if (cells.seq_has(i, id)) cells.rm(i);
        }
      }
    }
  }

  bool IsHigh(llama_seq_id id, llama_pos end) const override {
    for (const llama_kv_cache* cache : caches_) {
      const llama_kv_cells& cells = cache->get_cells(own_);
      for (uint32_t i = cells.get_used() + kLoose; i < cells.used_max_p1(); ++i) {
        if (cells.seq_has(i, id) && cells.pos_get(i) < end) return true;
      }
    }
    return false;
  }

  void Remove(llama_seq_id id, llama_pos position) override {
    for (llama_kv_cache* cache : caches_) {
      llama_kv_cells& cells = Of(*cache);
      if (cells.seq_pos_max(id) < std::max(position, 0)) continue;
      const uint32_t end = cells.used_max_p1();
      for (uint32_t i = 0; i < end; ++i) {
        if (cells.seq_has(i, id) && cells.pos_get(i) >= position) cells.seq_rm(i, id);
      }
    }
  }

  void Copy(llama_seq_id from, llama_seq_id to) override {
    for (llama_kv_cache* cache : caches_) {
      llama_kv_cells& cells = Of(*cache);
      const uint32_t end = cells.used_max_p1();
      for (uint32_t i = 0; i < end; ++i) {
        if (cells.seq_has(i, from)) cells.seq_add(i, to);
      }
    }
  }

 private:
  // The cache hands them out constant, and is not.
  llama_kv_cells& Of(llama_kv_cache& cache) const {
    return const_cast<llama_kv_cells&>(cache.get_cells(own_));
  }

  void Put(llama_kv_cache& cache, uint32_t cell) {
    llama_kv_cells& cells = Of(cache);
    cells.pos_set(cell, 0);
    cells.seq_add(cell, own_);
  }

  const std::vector<llama_kv_cache*> caches_;
  const llama_seq_id first_;
  const llama_seq_id own_;
};

}  // namespace

std::unique_ptr<CellRoom> CellRoomOf(llama_context* context, llama_seq_id first,
                                     llama_seq_id last) {
  std::vector<llama_kv_cache*> caches = CachesOf(llama_get_memory(context));
  if (caches.empty()) return nullptr;
  return std::make_unique<CacheRoom>(std::move(caches), first, last);
}

}  // namespace oi
