// One llama_decode: parts of prefixes and of questions, of several tasks.
//
// Rules
//   1. The end of a prefix and the first questions go into one step, its tokens marked as every
//      fork's. So a short request is one decode.
//   2. A recurrent state's tokens cannot belong to several sequences, and llama.cpp cuts such a
//      batch into microbatches of equally long pieces: there a step holds prefixes or whole
//      questions, and a few tokens behind a question's last one make lengths equal.
//   3. llama.cpp's flash attention on a CPU has two kernels. The one for few queries sums in
//      half precision, and differs from the other by up to 2e-2 in a logit. Where these are
//      used (our own kernels need it not), a short last microbatch is filled up with tokens of a
//      sequence of their own, so that an answer does not depend on how many others ride with it.
//   4. Deterministic: batches of a prefix begin at multiples of the step's size behind its
//      beginning or its last image, and each question has a step of its own. So what a token is
//      evaluated with depends on its request alone.
//   5. llama.cpp takes either tokens or rows: an image has a step of its own.
//   6. On a GPU a step is one microbatch of one of few shapes (shapes.h).

#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "batch.h"
#include "cache/cell_room.h"
#include "cache/device_tier.h"
#include "context.h"
#include "input/vision.h"
#include "rate.h"
#include "scoring_task.h"
#include "shapes.h"

namespace oi {

class Admission;

class Step {
 public:
  // Part of a prefix.
  struct Chunk {
    ScoringTask* task;
    size_t count;
  };
  // What a step evaluates instead of a batch (rule 5).
  struct ImageChunk {
    const Image* image;
    size_t position;
    llama_seq_id sequence;
  };

  // `room`: where steps have few shapes; else null.
  Step(const ContextPlan& plan, DeviceTier& device, const Admission& admission, bool recurrent,
       bool deterministic, CellRoom* room)
      : plan_(plan),
        device_(device),
        admission_(admission),
        recurrent_(recurrent),
        deterministic_(deterministic),
        room_(room),
        batch_(plan.batch_tokens) {}

  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

  // Empties it, and sets its size in tokens.
  void Start(size_t tokens);
  // A size of no more than it has, or than `tokens`.
  void Limit(size_t tokens) { size_ = std::min(size_, std::max(tokens, batch_.size())); }
  // Adds what there is room for of a task that has its prefix; returns how many tokens that is.
  // At most once per task.
  size_t Add(ScoringTask& task);
  // A token of sequence 0, to warm up with.
  void AddPlain(size_t position, bool output) { batch_.Add(0, position, 0, output); }
  // Adds the padding of rules 2, 3 and 6. Nothing may be added after it, and no cell moved.
  void Complete();
  // Frees the cells of padding.
  void Empty();

  bool full() const { return image_ || room() == 0; }
  size_t size() const { return image_ ? chunks_.front().count : batch_.size(); }
  Batch& batch() { return batch_; }
  const std::optional<ImageChunk>& image() const { return image_; }
  size_t padding() const { return padding_; }        // tokens that belong to no task
  size_t read_cells() const { return read_cells_; }  // by attention, of rule 6
  const Work& work() const { return work_; }
  const std::vector<ScoringTask*>& tasks() const { return tasks_; }
  const std::vector<Chunk>& chunks() const { return chunks_; }

 private:
  llama_seq_id filler() const { return static_cast<llama_seq_id>(plan_.sequences); }
  size_t room() const { return size_ - std::min(size_, batch_.size()); }
  void AddPrefix(ScoringTask& task);
  void AddImage(ScoringTask& task);
  void AddQuestions(ScoringTask& task);
  bool BeginRun(ScoringTask& task);
  void AddRun(ScoringTask& task, size_t index);
  void Fill();
  void Shape();
  void EqualLengths();

  const ContextPlan& plan_;
  DeviceTier& device_;
  const Admission& admission_;
  const bool recurrent_;
  const bool deterministic_;
  CellRoom* const room_;
  Shapes shapes_;
  Batch batch_;
  std::optional<ImageChunk> image_;
  size_t size_ = 0;
  size_t padding_ = 0;
  size_t outputs_ = 0;
  size_t read_cells_ = 0;
  Work work_;
  std::vector<ScoringTask*> tasks_;
  std::vector<Chunk> chunks_;
};

}  // namespace oi
