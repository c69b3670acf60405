#include "decision.h"

namespace oi {
namespace {

// How many numbers a query or a key of a pointer head has.
constexpr int64_t kPointerWidth = 32;

// The words are ours; what each family shows, in which order and with which labels, is its own.

// Letters by place, which the template knows by itself.
constexpr char kOpenJev[] =
    R"({%- set letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz' -%}
{{- '<|im_start|>system\nDecide by the facts alone.<|im_end|>\n<|im_start|>user\n' -}}
{%- for image in images -%}{{- image -}}{%- endfor -%}
{{- 'Facts:\n' -}}{{- state if state is string else state | tojson -}}
{{- '\n\nTask: ' -}}{{- instructions if instructions is string else instructions | tojson -}}
{%- for o in options -%}
{{- '\n' ~ letters[loop.index0] ~ ') ' -}}
{%- if type == 'noul' -%}{{- 'yes' if o.key == 'true' else 'no' -}}
{%- else -%}{{- o.key -}}{%- endif -%}
{%- if o.description -%}
{{- ': ' -}}{{- o.description if o.description is string else o.description | tojson -}}
{%- endif -%}
{%- endfor -%}
{{- '\n\nOne letter.<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n' -}}
)";

// Labels are given; a noul is rated.
constexpr char kLev[] =
    R"({{- '<|im_start|>system\nRate and choose.<|im_end|>\n<|im_start|>user\n## Case\n' -}}
{{- state if state is string else state | tojson -}}
{{- '\n\n## Criterion\n' -}}
{%- if instructions -%}
{{- instructions if instructions is string else instructions | tojson -}}
{%- else -%}{{- id -}}{%- endif -%}
{{- '\n\n' -}}
{%- if type == 'noul' -%}
{{- '## Ratings\n0 is surely no, 8 is surely yes\n' -}}
{%- for o in options -%}
{%- if o.description -%}
{{- ('yes' if o.key == 'true' else 'no') ~ ' means ' ~ o.description ~ '\n' -}}
{%- endif -%}
{%- endfor -%}
{{- '\nGive a digit.' -}}
{%- else -%}
{{- '## Options\n' -}}
{%- for o in options -%}
{{- o.label ~ '. ' -}}
{%- if type == 'score' -%}{{- 'level ' ~ o.key ~ ': ' ~ o.description -}}
{%- else -%}
{{- o.key -}}{%- if o.description -%}{{- ': ' ~ o.description -}}{%- endif -%}
{%- endif -%}
{{- '\n' -}}
{%- endfor -%}
{{- '\nGive a letter.' -}}
{%- endif -%}
{{- '\n<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n' -}}
)";

// One JSON document with a field for each question; the head depends on how many options it has.
constexpr char kNimble[] =
    R"({%- set ns = namespace(code='one-letter') -%}
{%- for q in questions -%}
{%- if q.options | length > 26 -%}{%- set ns.code = 'short' -%}{%- endif -%}
{%- endfor -%}
{{- '<|im_start|>system\nFill in one field with a ' ~ ns.code ~ ' code.<|im_end|>\n' -}}
{{- '<|im_start|>user\n{"input": ' -}}
{{- (state if state is string else state | tojson) | tojson | replace('<', '\\u003c') -}}
{{- ', "fields": [' -}}
{%- for q in questions -%}
{{- '{"field": ' ~ (q.id | tojson) ~ ', "asks": ' -}}
{{- q.instructions | tojson | replace('<', '\\u003c') -}}
{{- ', "codes": [' -}}
{%- for o in q.options -%}
{{- '{"code": ' ~ (o.label | tojson) ~ ', "value": ' -}}
{{- o.key if q.type == 'noul' else (o.key | tojson | replace('<', '\\u003c')) -}}
{%- if o.description is not none -%}
{{- ', "means": ' ~ (o.description | tojson | replace('<', '\\u003c')) -}}
{%- endif -%}
{{- '}' -}}{%- if not loop.last -%}{{- ', ' -}}{%- endif -%}
{%- endfor -%}
{{- ']}' -}}{%- if not loop.last -%}{{- ', ' -}}{%- endif -%}
{%- endfor -%}
{{- ']}\n\nField: ' ~ (id | tojson) -}}
{{- '<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n' -}}
)";

// Labels are given; an option without a description of its own has one.
constexpr char kPplxDecider[] =
    R"({{- '<|im_start|>system\nAnswer with a code.<|im_end|>\n<|im_start|>user\n' -}}
{%- for image in images -%}{{- image -}}{%- endfor -%}
{{- 'Given:\n' -}}{{- state if state is string else state | tojson -}}
{{- '\n\nAsked:\n' -}}
{%- if instructions -%}
{{- instructions if instructions is string else instructions | tojson -}}
{%- else -%}{{- 'Which option fits best?' -}}{%- endif -%}
{{- '\n\nCodes:' -}}
{%- for o in options -%}
{{- '\n' ~ o.label ~ ': ' -}}
{%- if type == 'score' -%}{{- o.description -}}
{%- elif type == 'choice' -%}
{{- o.key -}}{%- if o.description is not none -%}{{- ': ' ~ o.description -}}{%- endif -%}
{%- elif o.description -%}{{- o.description -}}
{%- else -%}{{- 'yes, so it is' if o.key == 'true' else 'no, it is not' -}}{%- endif -%}
{%- endfor -%}
{{- '\n\nOne code.<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n' -}}
)";

// Words for a noul, numbers for a score, codes for a choice.
constexpr char kLfm2D1[] =
    R"({{- '<|im_start|>user\n' -}}
{%- for image in images -%}{{- image -}}{%- endfor -%}
{%- if state is not none -%}
{{- state if state is string else state | tojson(indent=2) -}}
{{- '\n\n\nASKED:\n' -}}
{%- endif -%}
{{- instructions if instructions is string else instructions | tojson -}}
{%- if type == 'choice' -%}
{{- '\n\nCodes:' -}}
{%- for o in options -%}
{{- '\n' ~ o.label ~ ' ' ~ (o.description if o.description else o.key | replace('_', ' ')) -}}
{%- endfor -%}
{{- '\n\nA code.' -}}
{%- elif type == 'noul' -%}
{%- for o in options -%}
{%- if o.description is not none -%}
{{- ('\nYes: ' if o.key == 'true' else '\nNo: ') ~ o.description -}}
{%- endif -%}
{%- endfor -%}
{{- '\n\nyes or no.' -}}
{%- else -%}
{{- '\n' -}}
{%- for o in options -%}{{- '\n' ~ o.key ~ ' ' ~ o.description -}}{%- endfor -%}
{{- '\n\nA digit.' -}}
{%- endif -%}
{{- '<|im_end|>\n<|im_start|>assistant\n' -}}
)";

}  // namespace

Decision LoadDecision(const std::string& type) {
  Decision decision;
  decision.type = type;
  if (type == "openjev") {
    decision.chat_template = kOpenJev;
    decision.temperatures = {{"choice", 0.85f}, {"score", 0.9f}, {"noul", 1.5f}};
  } else if (type == "lev") {
    decision.chat_template = kLev;
    decision.temperatures = {{"choice.small", 0.8f},
                             {"choice.mid", 1.25f},
                             {"choice.large", 1.4f},
                             {"score", 0.9f},
                             {"noul", 1.6f}};
  } else if (type == "nimble") {
    decision.chat_template = kNimble;
  } else if (type == "pplx-decider") {
    decision.chat_template = kPplxDecider;
    decision.temperatures = {{"choice", 1.3f}, {"score", 1.3f}, {"noul", 1.3f}};
  } else if (type == "lfm2-d1") {
    decision.chat_template = kLfm2D1;
    decision.temperatures = {{"choice.2", 1.7f},  {"choice.3_5", 1.4f}, {"choice.6_10", 1.2f},
                             {"choice.11", 1.1f}, {"noul.2", 1.5f},     {"score.3_5", 1.6f}};
  } else if (type == "kev") {
    decision.pointer_head = true;
  }
  return decision;
}

void SetDecision(const Decision& decision, const std::string& architecture, gguf_context* out) {
  if (decision.type.empty()) return;
  const std::string prefix = architecture + ".decision.";
  gguf_set_val_str(out, (prefix + "type").c_str(), decision.type.c_str());
  for (const auto& [name, temperature] : decision.temperatures) {
    gguf_set_val_f32(out, (prefix + "temperature." + name).c_str(), temperature);
  }
  if (!decision.chat_template.empty()) {
    gguf_set_val_str(out, "tokenizer.chat_template.systemone", decision.chat_template.c_str());
  }
}

void AddHead(const Decision& decision, uint32_t width, std::vector<Tensor>& tensors) {
  if (!decision.pointer_head) return;
  tensors.push_back({"cls.output.weight", Fill::kMatrix, {width, 2 * kPointerWidth}});
  tensors.push_back({"cls.output.bias", Fill::kNorm, {2 * kPointerWidth}});
}

}  // namespace oi
