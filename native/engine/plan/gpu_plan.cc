#include "gpu_plan.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../../kernels/kernels.h"
#include "../../machine/available_bytes.h"
#include "../error.h"
#include "../log.h"
#include "../model.h"
#include "context_plan.h"
#include "devices.h"
#include "layer_weights.h"
#include "llama.h"
#include "memory.h"
#include "placement.h"
#include "type_advice.h"

namespace oi {
namespace {

// Longest context that is chosen, tokens: all cells that are used cost time.
constexpr uint32_t kContextTokens = 32768;
constexpr uint32_t kMinContextTokens = 2048;
constexpr uint32_t kMicrobatchTokens = 512;  // of layers in RAM, and where there is little room
constexpr uint32_t kMinForks = 8;
// Rule 3: this part of the free memory stays free, and at most so much.
constexpr uint64_t kSpareShare = 16;
constexpr uint64_t kMaxSpareBytes = 1ull << 30;
// Compute buffers of a projector, besides its weights.
constexpr uint64_t kProjectorBytes = 256u << 20;

class Planner {
 public:
  Planner(const EngineOptions& options, uint32_t default_threads, const std::atomic<bool>& stop)
      : asked_(options),
        options_(options),
        default_threads_(default_threads),
        stop_(stop),
        gpus_(FindGpus(options.device)),
        weights_(ReadLayerWeights(options.model_path)),
        layers_(weights_.layers.size()) {
    for (const LayerWeights::Layer& layer : weights_.layers) has_experts_ |= layer.expert_bytes > 0;
    options_.gpu_layers = asked_.gpu_layers < 0
                              ? static_cast<int32_t>(layers_)
                              : std::min(asked_.gpu_layers, static_cast<int32_t>(layers_));
    options_.cpu_experts = std::max(asked_.cpu_experts, 0);
  }

  LoadPlan Plan() {
    Load();
    if (asked_.context_tokens == 0) {
      const int32_t trained = llama_model_n_ctx_train(model_->get());
      options_.context_tokens =
          trained > 0 ? std::min(kContextTokens, static_cast<uint32_t>(trained)) : kContextTokens;
    }
    if (MoreOnCpu()) UseSmallMicrobatches();
    const uint32_t wanted_context = options_.context_tokens;
    while (!Fits()) {
      if (!GiveWay()) Refuse();
    }
    if (options_.gpu_layers == 0) {
      // Sizes that were chosen for a GPU do not fit a CPU.
      EngineOptions plain = asked_;
      plain.gpu_layers = 0;
      notes_.push_back("no layer fits into " + Describe(gpus_) + ": the model runs on the CPU");
      return {std::move(plain), {}, std::move(notes_)};
    }
    if (options_.context_tokens < wanted_context) {
      notes_.push_back("a context of " + std::to_string(options_.context_tokens) + " tokens, as " +
                       std::to_string(wanted_context) + " do not fit: " + Room());
    }
    if (options_.cpu_experts > std::max(asked_.cpu_experts, 0)) {
      notes_.push_back("the experts of " + std::to_string(options_.cpu_experts) +
                       " layers stay in RAM: " + Room());
    }
    if (asked_.gpu_layers < 0 && MoreOnCpu()) {
      notes_.push_back(std::to_string(options_.gpu_layers) + " of " + std::to_string(layers_) +
                       " layers are on GPUs, the others on the CPU: " + Room());
    }
    const bool all = !MoreOnCpu() && options_.cpu_experts == 0;
    const std::string advice = all ? TypeAdvice(*model_, GpuRoom()) : "";
    if (!advice.empty()) notes_.push_back(advice);
    return {std::move(options_), std::move(placement_), std::move(notes_)};
  }

 private:
  // Loads vocabulary and shapes alone, with layers assigned to devices.
  void Load() {
    EngineOptions dry = options_;
    dry.metadata_only = true;
    model_ = Model::Load(dry, stop_, {});
    loaded_layers_ = options_.gpu_layers;
    // Cells are computed, not asked of llama.cpp for each size.
    cost_ = CostOfContext(*model_, options_.cache_type);
  }

  bool MoreOnCpu() const { return static_cast<size_t>(options_.gpu_layers) < layers_; }

  void UseSmallMicrobatches() {
    if (asked_.microbatch_tokens == 0) options_.microbatch_tokens = kMicrobatchTokens;
  }

  bool Fits() {
    if (options_.gpu_layers == 0) return true;
    if (loaded_layers_ != options_.gpu_layers) Load();
    const bool whole_images = !options_.projector_path.empty();
    plan_ = PlanContext(*model_, options_, default_threads_, whole_images);
    buffers_ = EmptyPlacement(gpus_);
    failed_.clear();
    Place();
    // llama.cpp keeps 48 bytes of RAM for a cell, also in a context without memory.
    if (!Enough()) return false;
    AskForBuffers();
    Place();
    return failed_.empty() && Enough();
  }

  bool Enough() const { return GpusSuffice() && RamSuffices(); }

  bool GpusSuffice() const {
    const auto fits = [](const Placement& entry) {
      return entry.free_bytes == 0 || entry.bytes() + Spare(entry) <= entry.free_bytes;
    };
    return std::all_of(placement_.begin(), placement_.end() - 1, fits);
  }

  // What weights may take, beside cells and buffers.
  uint64_t GpuRoom() const {
    uint64_t room = 0;
    uint64_t taken = 0;
    for (size_t i = 0; i < gpus_.size(); ++i) {
      const Placement& entry = placement_[i];
      room += entry.free_bytes - Spare(entry);
      taken += entry.cell_bytes + entry.buffer_bytes;
    }
    return room - std::min(room, taken);
  }

  static uint64_t Spare(const Placement& entry) {
    return std::min(kMaxSpareBytes, entry.free_bytes / kSpareShare);
  }

  // Weights in RAM may stay in their file.
  bool RamSuffices() const {
    const Placement& ram = placement_.back();
    return !ram_bytes_ || ram.cell_bytes + ram.buffer_bytes <= *ram_bytes_;
  }

  // Asks llama.cpp for the compute buffers of the current sizes.
  void AskForBuffers() {
    llama_context_params params = ParamsOf(plan_, options_);
    const kernels::LoadScope use_kernels(model_->kernels(), /*lock=*/false,
                                         model_->exact_matmuls());
    ClearLog();
    const std::unique_ptr<llama_context, decltype(&llama_free)> context(
        llama_init_from_model(model_->get(), params), &llama_free);
    failed_ = context ? "" : FirstLoggedError();
    if (!context && failed_.empty()) failed_ = "no context could be made";
    LoggedMemory logged = MemoryLogged();
    // The log counts recurrent states, and no cells: Place() adds both.
    for (auto& [name, buffers] : logged.buffers) buffers.cells = 0;
    logged.layers.clear();
    AddLogged(buffers_, logged);
    if (!options_.projector_path.empty()) {
      std::error_code error;
      const uintmax_t size = std::filesystem::file_size(options_.projector_path, error);
      buffers_.front().buffer_bytes += kProjectorBytes + (error ? 0 : size);
    }
  }

  // As llama.cpp does: the last layers go to GPUs, by their shares, and the head is one of them.
  void Place() {
    placement_ = buffers_;
    const std::vector<double> ends = ShareEnds();
    const auto on_gpus = static_cast<size_t>(options_.gpu_layers);
    const size_t first = layers_ - on_gpus;
    const double cells = cost_.cell_bytes * (plan_.context_tokens + plan_.spare_cells) +
                         cost_.state_bytes * (plan_.sequences + plan_.fillers);
    const auto layer_cells = static_cast<uint64_t>(cells / static_cast<double>(layers_ - 1));
    Placement& ram = placement_.back();
    ram.weight_bytes += weights_.input_bytes;
    for (size_t i = 0; i < layers_; ++i) {
      Placement* entry = &ram;
      if (i >= first) {
        const double place = static_cast<double>(i - first) / static_cast<double>(on_gpus);
        const auto it = std::upper_bound(ends.begin(), ends.end(), place);
        entry =
            &placement_[std::min<size_t>(static_cast<size_t>(it - ends.begin()), gpus_.size() - 1)];
      }
      const LayerWeights::Layer& layer = weights_.layers[i];
      ++entry->layers;
      entry->weight_bytes += layer.bytes;
      if (i + 1 < layers_) entry->cell_bytes += layer_cells;
      const bool kept = i < static_cast<size_t>(options_.cpu_experts);
      (kept ? ram : *entry).weight_bytes += layer.expert_bytes;
    }
  }

  std::vector<double> ShareEnds() const {
    std::vector<double> ends;
    double sum = 0;
    for (size_t i = 0; i < gpus_.size(); ++i) {
      const std::vector<float>& split = options_.tensor_split;
      sum += i < split.size() ? split[i]
             : split.empty()
                 ? static_cast<double>(std::max<uint64_t>(1, FreeBytes(gpus_[i]).value_or(0)))
                 : 0;
      ends.push_back(sum);
    }
    for (double& end : ends) end /= sum;
    return ends;
  }

  // Rule 1: makes the next choice smaller. False if none may be.
  bool GiveWay() {
    const bool free_context = asked_.context_tokens == 0;
    if (free_context && options_.context_tokens > kMinContextTokens) {
      options_.context_tokens = std::max(kMinContextTokens, options_.context_tokens / 2);
    } else if (asked_.microbatch_tokens == 0 && options_.projector_path.empty() &&
               options_.microbatch_tokens == 0) {
      UseSmallMicrobatches();
    } else if (asked_.max_forks == 0 && plan_.max_forks / 2 >= kMinForks) {
      options_.max_forks = plan_.max_forks / 2;
    } else if (asked_.cpu_experts < 0 && has_experts_ &&
               static_cast<size_t>(options_.cpu_experts) + 1 < layers_) {
      // Buffers are not asked for anew: that takes a moment, and there may be many layers.
      do {
        ++options_.cpu_experts;
        Place();
      } while (!Enough() && static_cast<size_t>(options_.cpu_experts) + 1 < layers_);
    } else if (asked_.gpu_layers < 0 && options_.gpu_layers > 0) {
      UseSmallMicrobatches();
      do {
        --options_.gpu_layers;
        Place();
      } while (!Enough() && options_.gpu_layers > 0);
    } else {
      return false;
    }
    return true;
  }

  [[noreturn]] void Refuse() const {
    std::string text = "the model does not fit: " + Room();
    if (!failed_.empty()) text += "; " + failed_;
    throw EngineError("ERR_MODEL_MEMORY",
                      text +
                          ". Choose fewer --gpu-layers, --context-tokens or --max-forks, more "
                          "--cpu-experts, or a smaller model");
  }

  // "CUDA0: weights 5.4 GiB, cells 1.1 GiB and buffers 0.4 GiB are needed, 6.0 GiB are free"
  std::string Room() const {
    std::string text;
    for (size_t i = 0; i < gpus_.size(); ++i) {
      const Placement& entry = placement_[i];
      text += (text.empty() ? "" : "; ") + entry.device + ": weights " +
              Gigabytes(entry.weight_bytes) + ", cells " + Gigabytes(entry.cell_bytes) +
              " and buffers " + Gigabytes(entry.buffer_bytes) + " of " +
              Gigabytes(entry.free_bytes) + " free";
    }
    if (RamSuffices()) return text;
    const Placement& ram = placement_.back();
    return text + "; RAM: cells " + Gigabytes(ram.cell_bytes) + " and buffers " +
           Gigabytes(ram.buffer_bytes) + " of " + Gigabytes(*ram_bytes_) + " available";
  }

  const EngineOptions& asked_;
  EngineOptions options_;
  const uint32_t default_threads_;
  const std::atomic<bool>& stop_;
  const Devices gpus_;
  const LayerWeights weights_;
  const size_t layers_;  // with the head
  const std::optional<uint64_t> ram_bytes_ = AvailableBytes();
  bool has_experts_ = false;
  std::unique_ptr<Model> model_;
  int32_t loaded_layers_ = 0;
  ContextCost cost_{};
  ContextPlan plan_{};
  std::string failed_;              // why llama.cpp refused the last sizes; "" if it did not
  std::vector<Placement> buffers_;  // compute buffers alone
  std::vector<Placement> placement_;
  std::vector<std::string> notes_;
};

}  // namespace

LoadPlan PlanForGpus(const EngineOptions& options, uint32_t default_threads,
                     const std::atomic<bool>& stop) {
  return Planner(options, default_threads, stop).Plan();
}

}  // namespace oi
