// A prefix that is looked for in the caches, and who asks.
//
// Rules
//   1. What was evaluated is shared within a scope, such as a workspace. Whether a state is known,
//      which times and counts tell, says nothing about what other scopes have asked.
//   2. The template before a caller's first text is nobody's, and all scopes share it in the
//      context. Tiers outside know a state as a whole, so there it is shared within a scope too.

#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "../types.h"

namespace oi {

// A view; what it shows must outlive it.
struct Wanted {
  const std::vector<Token>& tokens;
  const std::string& scope;
  size_t template_tokens;  // of the first: nobody's

  // The first tokens that it may have in common with another prefix, at most.
  size_t Sharable(const std::string& others_scope, size_t others_template_tokens) const {
    if (scope == others_scope) return tokens.size();
    return std::min(template_tokens, others_template_tokens);
  }
};

inline Wanted WantedOf(const TokenizedRequest& request) {
  return {request.prefix, request.scope, request.template_tokens};
}

}  // namespace oi
