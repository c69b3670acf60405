#include "chat_template.h"

#include <fstream>
#include <iterator>
#include <stdexcept>

namespace oi {
namespace {

constexpr char kChatMlTurns[] =
    R"({%- for turn in messages -%}
{{- '<|im_start|>' ~ turn.role ~ '\n' ~ turn.content ~ '<|im_end|>\n' -}}
{%- endfor -%}
)";

constexpr char kChatMlPrompt[] =
    R"({%- if add_generation_prompt -%}
{{- '<|im_start|>assistant\n' -}}
{%- if enable_thinking is defined and not enable_thinking -%}
{{- '<think>\n\n</think>\n\n' -}}
{%- endif -%}
{%- endif -%}
)";

constexpr char kAlwaysThinkingPrompt[] =
    R"({%- if add_generation_prompt -%}
{{- '<|im_start|>assistant\n<think>\n' -}}
{%- endif -%}
)";

constexpr char kLlama3[] =
    R"({{- bos_token -}}
{%- for turn in messages -%}
{{- '<|start_header_id|>' ~ turn.role ~ '<|end_header_id|>\n\n' ~ turn.content ~ '<|eot_id|>' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}
{{- '<|start_header_id|>assistant<|end_header_id|>\n\n' -}}
{%- endif -%}
)";

ChatTemplate ChatMl(const char* prompt) {
  return {.text = std::string(kChatMlTurns) + prompt,
          .control_tokens = {"<|im_start|>", "<|im_end|>"},
          .plain_tokens = {"<think>", "</think>"},
          .end_of_turn = "<|im_end|>"};
}

}  // namespace

ChatTemplate LoadChatTemplate(const std::string& name) {
  if (name == "none") return {};
  if (name == "chatml") return ChatMl(kChatMlPrompt);
  if (name == "always-thinks") return ChatMl(kAlwaysThinkingPrompt);
  if (name == "llama3") {
    return {.text = kLlama3,
            .control_tokens = {"<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"},
            .plain_tokens = {},
            .end_of_turn = "<|eot_id|>"};
  }
  std::ifstream file(name, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (!file || text.empty()) {
    throw std::runtime_error("No template in " + name +
                             "; use chatml, always-thinks, llama3, none or a readable file");
  }
  return {.text = text, .control_tokens = {}, .plain_tokens = {}, .end_of_turn = ""};
}

}  // namespace oi
