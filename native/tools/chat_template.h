// Chat templates of our own: small, and with the properties that the server looks for.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace oi {

struct ChatTemplate {
  std::string text;  // Jinja; empty: the model has none
  // What must be single tokens for the template to mean anything; the vocabulary gets
  // those that it lacks.
  std::vector<std::string> control_tokens;
  std::vector<std::string> plain_tokens;  // single tokens, but legal in ordinary text
  std::string end_of_turn;                // one of control_tokens, or empty
};

// `name`: chatml (thinks, unless enable_thinking is false), always-thinks (ChatML without
// that switch), llama3 (never thinks), none, or the path of a file that holds a template.
// Throws std::runtime_error.
ChatTemplate LoadChatTemplate(const std::string& name);

}  // namespace oi
