// One context over one model: evaluates a prefix once and every question behind it.
//
// Rules
//   1. Built, used and destroyed on one thread.
//   2. Sequence 0 is the resident prefix: the last request's, kept for the next one. Sequences
//      1 to max_forks are forks of it and exist only inside Score(). On the unified cache a
//      fork shares the prefix' cells; only recurrent layers copy a state.
//   3. The prefix is evaluated alone in whole microbatches; what is left of it goes into one
//      batch with the first questions, its tokens marked as every fork's. So no microbatch but
//      the last is partly filled, and a short request is one decode.
//   4. A recurrent state cannot be cut short, nor can its tokens belong to several sequences:
//      there the whole prefix is evaluated alone, the resident one is used again only as a
//      whole, and forks are made anew for each wave.
//   5. llama.cpp's flash attention on a CPU has two kernels. The one for few queries sums in
//      half precision, and differs from the other by up to 2e-2 in a logit. Where flash
//      attention is on, a short last microbatch is filled up with tokens of a sequence of
//      their own, so that an answer does not depend on how many others ride with it.
//   6. llama.cpp asserts by ending the process. Whatever a request can get wrong is checked
//      before the first call.

#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "batch.h"
#include "context.h"
#include "types.h"

namespace oi {

class Model;

class Scorer {
 public:
  using Cancelled = std::function<bool()>;

  // Throws EngineError ERR_MODEL_MEMORY or ERR_MODEL_UNSUPPORTED. `model` must outlive the
  // scorer. `default_threads` is used where the options leave the number open.
  Scorer(const Model& model, const EngineOptions& options, uint32_t default_threads);
  ~Scorer();

  Scorer(const Scorer&) = delete;
  Scorer& operator=(const Scorer&) = delete;

  // Evaluates a few tokens, so that the first request finds weights and buffers in place.
  void WarmUp();

  // Throws EngineError: ERR_STATE_TOO_LONG, ERR_INVALID_ARGUMENT (a token outside the
  // vocabulary, a question without tokens), ERR_ABORTED when `cancelled` became true (asked
  // between steps and, on a CPU, inside them), ERR_ENGINE_INTERNAL. The scorer stays usable.
  ScoreResult Score(const TokenizedRequest& request, const Cancelled& cancelled);

  const ContextPlan& plan() const { return plan_; }

 private:
  // Indices into the request's questions that are evaluated, and where their logits go.
  struct Work {
    std::vector<size_t> question;
    std::vector<size_t> offset;
  };

  void Check(const TokenizedRequest& request) const;
  size_t Keep(const std::vector<Token>& prefix);
  void EvaluateAlone(const std::vector<Token>& prefix);
  void EvaluateQuestions(const TokenizedRequest& request, const Work& work,
                         std::vector<float>& logits);
  size_t WaveEnd(const TokenizedRequest& request, const Work& work, size_t begin) const;
  void ReadLogits(const TokenizedQuestion& question, int32_t row, float* out) const;
  void Decode();
  void DecodeFilled();
  void DropForks();
  void Recover();

  static bool OnAbort(void* self);

  const Model& model_;
  const ContextPlan plan_;
  const bool recurrent_;
  const size_t vocabulary_size_;
  const Cancelled* cancelled_ = nullptr;  // the running request's
  const Context context_;                 // its abort callback reads cancelled_
  std::vector<Token> resident_;           // tokens of sequence 0
  Batch batch_;
};

}  // namespace oi
