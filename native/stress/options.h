// How the pipeline is opened: every option at random that changes how it works, none that changes
// an answer.

#pragma once

#include <algorithm>
#include <cstdlib>
#include <string>

#include "../runtime/pipeline.h"
#include "world.h"

namespace oi {

constexpr unsigned kContextTokens = 1024;  // of the prompts at most

// ThreadSanitizer does not see how ggml's threads meet, and none of their code is ours or
// instrumented: there the model has one thread.
#ifdef __SANITIZE_THREAD__
constexpr uint32_t kMaxThreads = 1;
#else
constexpr uint32_t kMaxThreads = 2;
#endif

// `folder` is "" for no disk tier.
inline Pipeline::Options RandomOptions(Random& random, const std::string& path,
                                       const std::string& folder) {
  Pipeline::Options options;
  EngineOptions& engine = options.engine;
  const auto one_of = [&](std::initializer_list<uint32_t> values) {
    return values.begin()[Below(random, values.size())];
  };
  engine.model_path = path;
  engine.context_tokens = one_of({512, 768, kContextTokens, 4096});
  engine.max_forks = one_of({1, 2, 5, 16, 64});
  engine.batch_tokens = one_of({64, 128, 512});
  engine.microbatch_tokens = std::min(engine.batch_tokens, one_of({64, 128}));
  engine.threads = one_of({1, kMaxThreads});
  if (const char* layers = std::getenv("OI_TEST_GPU_LAYERS")) engine.gpu_layers = std::atoi(layers);
  engine.deterministic = Below(random, 4) == 0;
  engine.host_bytes = static_cast<int64_t>(one_of({0, 1u << 20, 64u << 20}));
  if (!folder.empty() && Below(random, 2) == 0) {
    engine.disk_folder = folder;
    engine.disk_bytes = 32u << 20;
  }
  options.max_queued = one_of({8, 64});
  options.max_backlog_ms = 1e9;
  options.tokenizer_threads = one_of({1, 2});
  return options;
}

}  // namespace oi
