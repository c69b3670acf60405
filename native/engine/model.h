// A loaded GGUF: weights and vocabulary. Immutable after Load(), so any thread may read it.

#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "encode/hidden_readout.h"
#include "log.h"
#include "plan/devices.h"
#include "prefix/prefix_readout.h"
#include "types.h"

struct llama_model;
struct llama_vocab;

namespace oi {

class Model {
 public:
  using Progress = std::function<void(float)>;  // 0 to 1, called on the loading thread

  // Layers and experts go where the options say; whether they fit is decided in
  // plan/gpu_plan.h.
  // Throws EngineError: ERR_INVALID_ARGUMENT (there is no such device), ERR_MODEL_NOT_FOUND,
  // ERR_MODEL_LOAD (not a GGUF, damaged, aborted by `stop`), ERR_MODEL_UNSUPPORTED (an
  // architecture that cannot be scored).
  static std::unique_ptr<Model> Load(const EngineOptions& options, const std::atomic<bool>& stop,
                                     const Progress& progress);
  ~Model();

  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  llama_model* get() const { return model_; }
  const llama_vocab* vocab() const { return vocab_; }
  bool on_cpu() const;                       // no layer is on a GPU
  bool layers_on_cpu() const;                // any is not
  bool kernels() const { return kernels_; }  // our own, for what is on the CPU
  bool exact_matmuls() const;                // of these kernels, as its file asks for
  const Devices& gpus() const { return gpus_; }
  bool recurrent() const;                          // also hybrid: a sequence cannot be cut short
  size_t window() const;                           // of sliding attention, tokens; 0 without it
  std::string Meta(const std::string& key) const;  // "" if absent
  // How it is asked, if hidden states tell its answers; else null.
  const HiddenReadout* hidden() const { return hidden_.get(); }
  // How it is asked, if it is an encoder that is read in parts; else null.
  const PrefixReadout* prefix() const { return prefix_.get(); }
  // Where its weights are.
  const LoggedMemory& memory() const { return memory_; }
  // Everything but what the context decides.
  ModelFacts Facts() const;

 private:
  Model(llama_model* model, Devices gpus, LoggedMemory memory, bool kernels,
        std::string without_kernels);

  llama_model* const model_;
  const llama_vocab* const vocab_;
  const Devices gpus_;  // with a layer or more
  const LoggedMemory memory_;
  const bool kernels_;
  const std::string without_kernels_;  // what of the weights has none, as the end of a sentence
  std::unique_ptr<const HiddenReadout> hidden_;
  std::unique_ptr<const PrefixReadout> prefix_;
};

}  // namespace oi
