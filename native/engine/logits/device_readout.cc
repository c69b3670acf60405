#include "device_readout.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <new>

#include "../finite.h"
#include "ggml-backend.h"
#include "ggml.h"

namespace oi {
namespace {

// Most questions have fewer candidates; the first that has more costs another reservation of
// buffers.
constexpr size_t kCandidates = 16;
// Numbers behind the candidates' logits: highest logit, sum of exp(logit - highest), rank.
constexpr size_t kFigures = 3;
constexpr size_t kHighest = 0;
constexpr size_t kSum = 1;
constexpr size_t kRank = 2;
constexpr size_t kMaxNodes = 64;  // of what is appended

const char* NameOf(const llama_sampler*) { return "oi-readout"; }

// llama.cpp wants one; nothing samples by it.
void Apply(llama_sampler*, llama_token_data_array*) {}

}  // namespace

// The context of its sampler.
struct DeviceReadout::Sequence {
  DeviceReadout* readout;
  llama_seq_id id;
  size_t row = 0;  // of the logits, in the graph that was built last, if it has an output there
};

// llama.cpp's callbacks.
struct DeviceReadout::Interface {
  static Sequence& Of(llama_sampler* sampler) { return *static_cast<Sequence*>(sampler->ctx); }

  static bool Init(llama_sampler* sampler, ggml_backend_buffer_type_t buffer_type, uint32_t) {
    const Sequence& sequence = Of(sampler);
    return sequence.id == 0 ? sequence.readout->Init(buffer_type) : sequence.readout->supported_;
  }

  // Called for sequence 0 first, and for all of them, with an output or without.
  static void Build(llama_sampler* sampler, ggml_context* graph_context, ggml_cgraph* graph,
                    llama_sampler_data* data) {
    Sequence& sequence = Of(sampler);
    ggml_tensor* logits = data->logits;
    // Nothing for llama.cpp to copy.
    *data = {};
    // A row of all, of which llama.cpp keeps a padded copy; or one alone, by which it counts nodes.
    if (ggml_tensor* all = logits->view_src) {
      sequence.row = logits->view_offs / all->nb[1];
      logits = all->op == GGML_OP_PAD ? all->src[0] : all;
    }
    if (sequence.id == 0 && logits->ne[1] > 0) {
      sequence.readout->Build(graph_context, graph, logits);
    }
  }

  // Called for each sequence with an output.
  static void SetInput(llama_sampler* sampler) { Of(sampler).readout->SetInput(Of(sampler)); }

  static llama_sampler_i Table() {
    llama_sampler_i table{};
    table.name = &NameOf;
    table.apply = &Apply;
    table.backend_init = &Init;
    table.backend_apply = &Build;
    table.backend_set_input = &SetInput;
    return table;
  }
};

DeviceReadout::DeviceReadout(uint32_t sequences, size_t vocabulary_size)
    : count_(sequences),
      vocabulary_size_(vocabulary_size),
      most_candidates_(std::min(kCandidates, vocabulary_size)),
      index_(sequences) {
  for (uint32_t i = 0; i < count_; ++i) {
    sequences_.push_back(std::make_unique<Sequence>(Sequence{this, static_cast<llama_seq_id>(i)}));
  }
  MakeSamplers();
}

DeviceReadout::~DeviceReadout() {
  for (llama_sampler* chain : chains_) llama_sampler_free(chain);
}

// Makes a sampler chain for each sequence, as llama.cpp wants it.
void DeviceReadout::MakeSamplers() {
  static llama_sampler_i table = Interface::Table();
  chains_.clear();
  configs_.clear();
  for (const auto& sequence : sequences_) {
    llama_sampler* const chain = llama_sampler_chain_init({.no_perf = true});
    llama_sampler_chain_add(chain, llama_sampler_init(&table, sequence.get()));
    chains_.push_back(chain);
    configs_.push_back({sequence->id, chain});
  }
}

void DeviceReadout::AddTo(llama_context_params& params) {
  params.n_outputs_max_per_seq = 1;
  params.samplers = configs_.data();
  params.n_samplers = configs_.size();
}

void DeviceReadout::Attach(llama_context* context) {
  context_ = context;
  if (!supported_) Use(false);
}

void DeviceReadout::Use(bool use) {
  if (in_use_ == (use && supported_)) return;
  in_use_ = use && supported_;
  std::vector<llama_sampler*> old;
  if (in_use_) {  // a chain is made for one context, once
    old.swap(chains_);
    MakeSamplers();
  }
  for (const llama_sampler_seq_config& config : configs_) {
    llama_set_sampler(context_, config.seq_id, in_use_ ? config.sampler : nullptr);
  }
  for (llama_sampler* chain : old) llama_sampler_free(chain);
}

void DeviceReadout::Start(bool use) {
  asked_.clear();
  Use(use);
}

void DeviceReadout::Ask(llama_seq_id sequence, std::span<const Token> candidates) {
  index_[static_cast<size_t>(sequence)] = asked_.size();
  asked_.push_back(candidates);
}

void DeviceReadout::Prepare() {
  if (!in_use_) return;
  size_t most = 0;
  for (const auto& candidates : asked_) most = std::max(most, candidates.size());
  if (most <= most_candidates_) return;
  most_candidates_ = std::bit_ceil(most);
  Use(false);
  Use(true);
}

size_t DeviceReadout::width() const { return most_candidates_ + kFigures; }

bool DeviceReadout::Init(ggml_backend_buffer_type_t buffer_type) {
  constexpr size_t kTensors = 1;
  results_buffer_.reset();
  results_context_.reset(ggml_init({kTensors * ggml_tensor_overhead(), nullptr, true}));
  results_ = ggml_new_tensor_2d(results_context_.get(), GGML_TYPE_F32,
                                static_cast<int64_t>(width()), count_);
  results_buffer_.reset(
      ggml_backend_alloc_ctx_tensors_from_buft(results_context_.get(), buffer_type));
  if (!results_buffer_) throw std::bad_alloc();
  ggml_backend_dev_t device = ggml_backend_buft_get_device(buffer_type);
  supported_ = device == nullptr || Supported(device);
  return supported_;
}

bool DeviceReadout::Supported(ggml_backend_dev_t device) {
  const std::unique_ptr<ggml_context, decltype(&ggml_free)> context(
      ggml_init({kMaxNodes * ggml_tensor_overhead() + ggml_graph_overhead_custom(kMaxNodes, false),
                 nullptr, true}),
      &ggml_free);
  ggml_cgraph* const graph = ggml_new_graph_custom(context.get(), kMaxNodes, false);
  Build(context.get(), graph,
        ggml_new_tensor_2d(context.get(), GGML_TYPE_F32, static_cast<int64_t>(vocabulary_size_),
                           count_));
  for (int i = 0; i < ggml_graph_n_nodes(graph); ++i) {
    if (!ggml_backend_dev_supports_op(device, ggml_graph_node(graph, i))) return false;
  }
  return true;
}

// Appends the readout to the graph. `logits`: [outputs][vocabulary].
void DeviceReadout::Build(ggml_context* g, ggml_cgraph* graph, ggml_tensor* logits) {
  if (!ggml_is_contiguous(logits)) logits = ggml_cont(g, logits);
  const int64_t rows = logits->ne[1];
  const auto candidates = static_cast<int64_t>(most_candidates_);
  // The entry of each row of `from` that `index` says.
  const auto pick = [&](ggml_tensor* from, ggml_tensor* index) {
    ggml_tensor* const single = ggml_reshape_3d(g, from, 1, from->ne[0], rows);
    ggml_tensor* const at = ggml_reshape_2d(g, index, ggml_nelements(index) / rows, rows);
    ggml_tensor* const picked = ggml_get_rows(g, single, at);
    return ggml_reshape_2d(g, picked, picked->ne[1], rows);
  };
  ids_ = ggml_new_tensor_2d(g, GGML_TYPE_I32, candidates, rows);
  ggml_set_input(ids_);
  places_ = ggml_new_tensor_1d(g, GGML_TYPE_I64, rows);
  ggml_set_input(places_);

  ggml_tensor* const of_candidates = pick(logits, ids_);
  ggml_tensor* const highest = pick(logits, ggml_argmax(g, logits));
  ggml_tensor* const sum = ggml_sum_rows(g, ggml_exp(g, ggml_sub(g, logits, highest)));
  ggml_tensor* const best = pick(of_candidates, ggml_argmax(g, of_candidates));
  ggml_tensor* const rank = ggml_sum_rows(g, ggml_step(g, ggml_sub(g, logits, best)));
  ggml_tensor* const figures = ggml_concat(g, ggml_concat(g, highest, sum, 0), rank, 0);
  ggml_build_forward_expand(
      graph, ggml_set_rows(g, results_, ggml_concat(g, of_candidates, figures, 0), places_));
}

void DeviceReadout::SetInput(const Sequence& sequence) {
  const size_t index = index_[static_cast<size_t>(sequence.id)];
  const std::span<const Token> candidates = asked_[index];
  id_row_.assign(most_candidates_, candidates.empty() ? 0 : candidates.front());
  std::copy(candidates.begin(), candidates.end(), id_row_.begin());
  const size_t bytes = most_candidates_ * sizeof(Token);
  ggml_backend_tensor_set(ids_, id_row_.data(), sequence.row * bytes, bytes);
  const auto place = static_cast<int64_t>(index);
  ggml_backend_tensor_set(places_, &place, sequence.row * sizeof(place), sizeof(place));
}

void DeviceReadout::Fetch() {
  fetched_.resize(asked_.size() * width());
  const size_t bytes = fetched_.size() * sizeof(float);
  if (bytes == 0) return;
  ggml_backend_tensor_get(results_, fetched_.data(), 0, bytes);
  bytes_ += bytes;
}

bool DeviceReadout::Finite(size_t index) const {
  const float* const figures = Row(index) + most_candidates_;
  return IsFinite(figures[kHighest]) && IsFinite(figures[kSum]) && figures[kSum] > 0;
}

bool DeviceReadout::Read(size_t index, float* out, int32_t& rank) const {
  const float* const row = Row(index);
  const size_t count = asked_[index].size();
  std::copy(row, row + count, out);
  const float* const figures = row + most_candidates_;
  out[count] = static_cast<float>(static_cast<double>(figures[kHighest]) +
                                  std::log(static_cast<double>(figures[kSum])));
  rank = static_cast<int32_t>(figures[kRank]);
  return Finite(index) && CountFinite(row, count) == count;
}

}  // namespace oi
