// Reads logits out on the device: of a row, [vocabulary], only the candidates' logits, the
// log-sum-exp and the rank come to the host.
//
// llama.cpp appends the graphs of "backend samplers" to its own. Each sequence that may have an
// output has one here; that of sequence 0 adds what reads all rows at once, the others tell whose
// row is which. It costs memory: a row of logits more on the device, and three in RAM, for each
// sequence, as llama.cpp reserves them.
//
// Rules
//   1. An output's results go to the place that was asked for, in a tensor of our own: not to
//      llama.cpp's buffers, which are the vocabulary's size and are put in order row by row.
//   2. Samplers outlive the context: destroy it first.
//   3. A sum that is not finite says no more than that. Who wants to know which entries are reads
//      whole rows.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "../types.h"
#include "llama.h"

namespace oi {

class DeviceReadout {
 public:
  // Of a context with sequences 0 to `sequences - 1`, each with at most one output in a decode.
  DeviceReadout(uint32_t sequences, size_t vocabulary_size);
  ~DeviceReadout();

  DeviceReadout(const DeviceReadout&) = delete;
  DeviceReadout& operator=(const DeviceReadout&) = delete;

  // Adds it to the parameters of the context that it is for.
  void AddTo(llama_context_params& params);
  // Once that is made. Leaves it without, if its device lacks an operation.
  void Attach(llama_context* context);

  // Whether the next decode's rows stay on the device; if not, they come whole.
  bool in_use() const { return in_use_; }

  // What to read out of the rows of the next decode, of each sequence with an output, in any order.
  // `use`: whether that happens on the device, if it can.
  void Start(bool use);
  void Ask(llama_seq_id sequence, std::span<const Token> candidates);
  // Before it.
  void Prepare();
  // After it, and llama_synchronize().
  void Fetch();

  // Of the output that was asked for as number `index` since Start(): logits of the candidates
  // into `out`, and the log-sum-exp, nats, behind them. The rank is the number of logits above the
  // candidates' highest one. False if they are not finite.
  bool Read(size_t index, float* out, int32_t& rank) const;
  // True if that output's whole row is finite.
  bool Finite(size_t index) const;

  // From the device to the host so far.
  uint64_t bytes() const { return bytes_; }

 private:
  struct Sequence;
  struct Interface;

  void Use(bool use);
  void MakeSamplers();
  bool Init(ggml_backend_buffer_type_t buffer_type);
  bool Supported(ggml_backend_dev_t device);
  void Build(ggml_context* graph_context, ggml_cgraph* graph, ggml_tensor* logits);
  void SetInput(const Sequence& sequence);
  size_t width() const;  // floats of a result
  const float* Row(size_t index) const { return fetched_.data() + index * width(); }

  const uint32_t count_;
  const size_t vocabulary_size_;
  llama_context* context_ = nullptr;
  bool supported_ = true;
  bool in_use_ = true;
  size_t most_candidates_;  // that a result has room for
  std::vector<std::unique_ptr<Sequence>> sequences_;
  std::vector<llama_sampler*> chains_;  // one for each sequence
  std::vector<llama_sampler_seq_config> configs_;
  // On the device: a row for each output of a decode.
  std::unique_ptr<ggml_context, decltype(&ggml_free)> results_context_{nullptr, &ggml_free};
  std::unique_ptr<ggml_backend_buffer, decltype(&ggml_backend_buffer_free)> results_buffer_{
      nullptr, &ggml_backend_buffer_free};
  ggml_tensor* results_ = nullptr;
  // Of the graph that was built last.
  ggml_tensor* ids_ = nullptr;                 // candidates of each row of logits
  ggml_tensor* places_ = nullptr;              // row of the results for each row of logits
  std::vector<std::span<const Token>> asked_;  // candidates
  std::vector<size_t> index_;                  // of those, by sequence
  std::vector<Token> id_row_;
  std::vector<float> fetched_;
  uint64_t bytes_ = 0;
};

}  // namespace oi
