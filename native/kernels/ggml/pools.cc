#include "pools.h"

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

namespace oi::kernels {
namespace {

struct Pools {
  std::shared_mutex mutex;
  std::vector<std::unique_ptr<Pool>> all;  // guarded by mutex
};

Pools& AllPools() {
  static Pools pools;
  return pools;
}

}  // namespace

void AddPool(const ggml_threadpool* threads, const CellOrder* order) {
  Pools& pools = AllPools();
  const std::unique_lock lock(pools.mutex);
  pools.all.push_back(std::make_unique<Pool>(threads, order));
}

void RemovePool(const ggml_threadpool* threads) {
  Pools& pools = AllPools();
  const std::unique_lock lock(pools.mutex);
  std::erase_if(pools.all, [threads](const auto& known) { return known->threads == threads; });
}

Pool* FindPool(const ggml_threadpool* threads) {
  Pools& pools = AllPools();
  const std::shared_lock lock(pools.mutex);
  for (const auto& pool : pools.all) {
    if (pool->threads == threads) return pool.get();
  }
  return nullptr;
}

}  // namespace oi::kernels
