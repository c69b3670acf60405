// oi-stress MODEL OPERATIONS [SEED [DISK_FOLDER [same-bits]]]: random operations on a pipeline,
// each answer compared with llama.cpp's own for that question alone; and, with `same-bits`, in
// every bit with the first answer to the same question about the same state.
//
// Scores, cancels, repeats, evicts, closes and opens again with other options; up to 32 requests
// are under way. Ends with a line of figures and 0 if nothing differed, nothing was left behind
// and nothing hung. Runs without Node, so that ThreadSanitizer sees every thread.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "../kernels/kernels.h"
#include "../runtime/pipeline.h"
#include "first_answers.h"
#include "options.h"
#include "plain.h"
#include "resident.h"
#include "world.h"

namespace oi {
namespace {

constexpr size_t kMaxUnderWay = 32;
constexpr double kTolerance = 1e-3;          // of the largest logit: F32 weights, f16 cells
constexpr double kQuantizedTolerance = 0.2;  // of any weights, by other kernels than llama.cpp's
// A deadlock lasts longer; a slow machine under ThreadSanitizer may take minutes to close.
constexpr auto kPatience = std::chrono::minutes(10);

struct Asked {
  size_t state;
  std::vector<size_t> questions;
  bool cancelled = false;
  bool hurried = false;  // has a deadline that may pass
};

class Stress {
 public:
  Stress(std::string path, uint64_t seed, std::string folder, bool same_bits)
      : path_(std::move(path)),
        folder_(std::move(folder)),
        same_bits_(same_bits),
        plain_(path_, kContextTokens),
        world_(plain_, seed),
        random_(seed) {
    // All of them now: later, only the pipeline's memory may grow.
    for (size_t state = 0; state < World::kStates; ++state) {
      for (size_t question = 0; question < World::kQuestions; ++question) {
        world_.Answer(state, question);
      }
    }
  }

  int Run(size_t operations) {
    Open();
    size_t settled_kib = 0;
    for (size_t i = 0; i < operations; ++i) {
      if (i == operations / 10) settled_kib = ResidentKib();
      const size_t dice = Below(random_, 1000);
      if (dice < 4) {
        Reopen();
      } else if (dice < 150) {
        Cancel();
      } else if (dice < 300) {
        Score(last_state_);
      } else {
        Score(Below(random_, World::kStates));
      }
    }
    Close();
    const size_t end_kib = ResidentKib();
    std::printf(
        "%zu operations: %zu answered, %zu cancelled, %zu expired, %zu refused, %zu opened; "
        "%zu from device, %zu from host, %zu from disk; largest difference %.1e; %zu wrong; "
        "resident %zu MiB after a tenth, %zu MiB at the end\n",
        operations, answered_, aborted_, expired_, refused_, opened_, hits_[1], hits_[2], hits_[3],
        worst_, wrong_.load(), settled_kib / 1024, end_kib / 1024);
    if (same_bits_) {
      std::printf("%zu answers compared in every bit, %zu differ\n", first_.compared(),
                  first_.differing());
    }
    return wrong_ == 0 ? 0 : 1;
  }

 private:
  void Open() {
    const Pipeline::Options options = RandomOptions(random_, path_, folder_);
    max_under_way_ = kMaxUnderWay;
    ++opened_;
    pipeline_ = std::make_unique<Pipeline>(
        options, [this](Pipeline::JobPtr job) { Done(std::move(job)); }, [](float) {});
    Push(std::make_unique<Job>(Job::Kind::kOpen, ++id_));
    Wait([this] { return under_way_ == 0; });
  }

  void Close() {
    Push(std::make_unique<Job>(Job::Kind::kClose, ++id_));
    Wait([this] { return under_way_ == 0; });
    const EngineStats stats = pipeline_->stats();
    if (stats.queued_requests != 0 || std::abs(stats.backlog_ms) > 1e-6) Wrong("a backlog is left");
    if (stats.scorer.cache.device_cells_used > stats.scorer.cache.device_cells) {
      Wrong("more cells than there are");
    }
    for (size_t i = 0; i < kTiers; ++i) hits_[i] += stats.hits[i];
    pipeline_.reset();
    if (!asked_.empty()) Wrong("requests are left");
  }

  void Reopen() {
    if (Below(random_, 3) > 0) {
      Close();
    } else {  // torn down with work under way
      pipeline_.reset();
      std::lock_guard<std::mutex> lock(mutex_);
      asked_.clear();
      under_way_ = 0;
    }
    Open();
  }

  void Score(size_t state) {
    Wait([this] { return under_way_ < max_under_way_; });
    max_under_way_ = kMaxUnderWay;
    last_state_ = state;
    auto job = std::make_unique<Job>(Job::Kind::kScore, ++id_);
    Asked asked;
    asked.state = state;
    job->workspace = static_cast<uint32_t>(Below(random_, 3));
    job->request.prefix.push_back({world_.state(state), false, nullptr});
    const size_t count = Below(random_, 5) == 0 ? 12 : 1 + Below(random_, 3);
    for (size_t i = 0; i < count; ++i) {
      asked.questions.push_back(Below(random_, World::kQuestions));
      Question question;
      question.parts.push_back({world_.question(asked.questions.back()), false, nullptr});
      question.candidates.assign(world_.candidates().begin(), world_.candidates().end());
      job->request.questions.push_back(std::move(question));
    }
    if (Below(random_, 20) == 0) {
      asked.hurried = true;
      job->deadline = job->accepted + std::chrono::microseconds(Below(random_, 20'000));
    }
    last_id_ = job->id;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      asked_.emplace(job->id, std::move(asked));
    }
    Push(std::move(job));
  }

  void Cancel() {
    uint32_t id = last_id_;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (asked_.empty()) return;
      if (Below(random_, 2) == 0) id = asked_.begin()->first;
      const auto it = asked_.find(id);
      if (it != asked_.end()) it->second.cancelled = true;
    }
    pipeline_->Cancel(id);
  }

  void Push(Pipeline::JobPtr job) {
    const uint32_t id = job->id;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      ++under_way_;
    }
    Refusal refusal;
    const Pipeline::Push push = pipeline_->TryPush(job, refusal);
    if (push == Pipeline::Push::kAccepted) return;
    if (push == Pipeline::Push::kClosing || refusal.retry_after_ms <= 0)
      Wrong("refused without reason");
    std::lock_guard<std::mutex> lock(mutex_);
    ++refused_;
    --under_way_;
    asked_.erase(id);
    // Whoever is refused waits for another's end: else refusals were most of what happens.
    max_under_way_ = std::max<size_t>(under_way_, 1);
  }

  // On a thread of the pipeline.
  void Done(Pipeline::JobPtr job) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (job->kind == Job::Kind::kScore) {
      const auto it = asked_.find(job->id);
      if (it == asked_.end()) {
        Wrong("answered twice");
      } else {
        Check(*job, it->second);
        asked_.erase(it);
      }
    } else if (job->error_code != nullptr) {
      Wrong(job->error_message.c_str());
    }
    --under_way_;
    wake_.notify_all();
  }

  void Check(const Job& job, const Asked& asked) {
    if (job.error_code != nullptr) {
      if (asked.cancelled && std::strcmp(job.error_code, "ERR_ABORTED") == 0) {
        ++aborted_;
      } else if (asked.hurried && std::strcmp(job.error_code, "ERR_TIMEOUT") == 0) {
        ++expired_;
      } else {
        Wrong(job.error_message.c_str());
      }
      return;
    }
    ++answered_;
    const ScoreResult& result = job.task->result;
    if (result.cached_tokens > result.prefix_tokens) Wrong("more cached than there was");
    const std::vector<float>& logits = result.logits;
    size_t at = 0;
    for (const size_t question : asked.questions) {
      if (same_bits_ && !first_.Has(asked.state, question, logits.data() + at)) {
        Wrong("other bits than the first time");
      }
      const std::vector<float>& right = world_.Answer(asked.state, question);
      double magnitude = 0;
      for (const float value : right) magnitude = std::max<double>(magnitude, std::abs(value));
      for (const float value : right) {
        const double difference = std::abs(value - logits.at(at++)) / magnitude;
        if (!(difference <= worst_)) worst_ = difference;
        if (!(difference < (same_bits_ ? kQuantizedTolerance : kTolerance))) {
          Wrong("another answer than alone");
        }
      }
    }
    if (at != logits.size()) Wrong("more or fewer logits than asked for");
  }

  template <typename Condition>
  void Wait(Condition condition) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (wake_.wait_for(lock, kPatience, condition)) return;
    const size_t under_way = under_way_;
    lock.unlock();
    std::fprintf(stderr, "oi-stress: %zu under way and none done, %zu of them queued\n", under_way,
                 pipeline_->stats().queued_requests);
    std::abort();
  }

  void Wrong(const char* what) {
    if (++wrong_ <= 10) std::fprintf(stderr, "oi-stress: %s\n", what);
  }

  const std::string path_;
  const std::string folder_;
  const bool same_bits_;
  PlainModel plain_;
  World world_;
  Random random_;
  std::unique_ptr<Pipeline> pipeline_;
  uint32_t id_ = 0;
  uint32_t last_id_ = 0;
  size_t last_state_ = 0;
  size_t max_under_way_ = kMaxUnderWay;
  size_t opened_ = 0;
  size_t hits_[kTiers] = {};

  std::mutex mutex_;
  std::condition_variable wake_;
  size_t under_way_ = 0;
  std::unordered_map<uint32_t, Asked> asked_;
  size_t answered_ = 0, aborted_ = 0, expired_ = 0, refused_ = 0;
  std::atomic<size_t> wrong_{0};
  double worst_ = 0;
  FirstAnswers first_{world_.candidates().size() + 1};
};

}  // namespace
}  // namespace oi

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: oi-stress MODEL OPERATIONS [SEED [DISK_FOLDER [same-bits]]]\n");
    return 2;
  }
  const uint64_t seed = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1;
  try {
    // Before llama.cpp alone loads a model: it lists the types of buffers once.
    const oi::kernels::LoadScope without_kernels(false);
    const bool same_bits = argc > 5 && std::strcmp(argv[5], "same-bits") == 0;
    oi::Stress stress(argv[1], seed, argc > 4 ? argv[4] : "", same_bits);
    return stress.Run(std::strtoull(argv[2], nullptr, 10));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "oi-stress: %s\n", error.what());
    return 1;
  }
}
