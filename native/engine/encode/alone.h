// Texts that `markers@1` reads by themselves, too, each in a pass of its own: the state, questions
// and options.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "../types.h"
#include "pass.h"

struct llama_vocab;

namespace oi {

class MarkerReadout;
class TextVectors;
struct RequestPlan;

// What stands around such a text.
class AloneTemplate {
 public:
  // Throws EngineError ERR_MODEL_UNSUPPORTED naming the key unless `source` has {text} once.
  AloneTemplate(const std::string& key, const std::string& source, const llama_vocab* vocab);

  // Of a text without tokens, none.
  std::vector<Token> Around(const std::vector<Token>& text) const;

 private:
  std::vector<Token> before_;
  std::vector<Token> after_;
};

// The passes of a request's texts, each text once. A pass with count 0 is one of these.
class AlonePasses {
 public:
  AlonePasses(const TokenizedRequest& request, const MarkerReadout& readout, size_t limit,
              TextVectors& known);

  // Adds the texts that a pass with options needs, and their numbers to it.
  void AddTo(PassPlan& pass);
  // Puts the passes before the others, and what was read before into its place.
  void AddTo(RequestPlan& plan);

 private:
  // `question`: that a text belongs to; kNoQuestion of the state.
  size_t NumberOf(std::vector<Token> tokens, int32_t question);

  const TokenizedRequest& request_;
  const MarkerReadout& readout_;
  const size_t limit_;
  TextVectors& known_;
  std::map<std::vector<Token>, size_t> numbers_;
  std::vector<PassPlan> passes_;
  std::vector<float> kept_;
};

// The number of a text without tokens, which has no pass: all that is read of it is zero.
constexpr size_t kNoText = SIZE_MAX;

}  // namespace oi
