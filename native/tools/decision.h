// Decision models: what tells a server in which format a model wants to be asked.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "architecture.h"
#include "gguf.h"

namespace oi {

struct Decision {
  std::string type;           // empty: an ordinary model
  std::string chat_template;  // Jinja, under the name systemone; empty: none
  std::vector<std::pair<std::string, float>> temperatures;  // by type, or type and bucket
  bool pointer_head = false;  // tensors that make queries and keys of hidden states
};

// `type`: openjev, lev, nimble, pplx-decider or lfm2-d1, with a template of ours in the shape that
// the family has; kev, with a head; any other name, of which there is nothing but the name.
Decision LoadDecision(const std::string& type);

// Metadata of an architecture's model, and the tensors of a head.
void SetDecision(const Decision& decision, const std::string& architecture, gguf_context* out);
void AddHead(const Decision& decision, uint32_t width, std::vector<Tensor>& tensors);

}  // namespace oi
