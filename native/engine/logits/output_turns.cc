#include "output_turns.h"

#include <utility>

#include "llama-context.h"

namespace oi {
namespace {

// llama.cpp has one buffer, and no call that gives it another: these two are private. Naming a
// private member in an explicit instantiation is allowed (C++20, [temp.spec.general]).
template <typename Name, auto kMember>
struct Open {
  friend auto MemberOf(Name) { return kMember; }
};
struct Logits {
  friend auto MemberOf(Logits);
};
struct Buffer {
  friend auto MemberOf(Buffer);
};
template struct Open<Logits, &llama_context::logits>;
template struct Open<Buffer, &llama_context::buf_output>;

class TwoBuffers final : public OutputTurns {
 public:
  explicit TwoBuffers(llama_context& context) : context_(context) {}

  const float* Turn() override {
    const float* const rows = (context_.*MemberOf(Logits{})).data;
    // The next decode makes it where there is none yet.
    std::swap(context_.*MemberOf(Buffer{}), other_);
    return rows;
  }

 private:
  llama_context& context_;
  ggml_backend_buffer_ptr other_;
};

}  // namespace

std::unique_ptr<OutputTurns> OutputTurnsOf(llama_context* context) {
  if (context->get_cparams().pipeline_parallel) return nullptr;
  return std::make_unique<TwoBuffers>(*context);
}

}  // namespace oi
