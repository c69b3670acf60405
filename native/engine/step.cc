#include "step.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "admission.h"
#include "input/image_tokens.h"

namespace oi {
namespace {

// The cost of a microbatch in tokens: up to so many are added to save one (rule 2).
constexpr size_t kMicrobatchCost = 16;

}  // namespace

void Step::Start(size_t tokens) {
  batch_.Clear();
  image_.reset();
  tasks_.clear();
  chunks_.clear();
  padding_ = 0;
  outputs_ = 0;
  read_cells_ = 0;
  work_ = {};
  size_ = std::min<size_t>(tokens, plan_.batch_tokens);
  // One token at least fills it up.
  if (room_ != nullptr) size_ = std::min<size_t>(size_, plan_.microbatch_tokens) - 1;
}

size_t Step::Add(ScoringTask& task) {
  const size_t before = size();
  if (task.prefix()->missing() == 0) {
    AddQuestions(task);
  } else if (IsImage(task.prefix()->tokens[task.prefix()->evaluated])) {
    AddImage(task);
  } else {
    AddPrefix(task);
  }
  if (size() > before) tasks_.push_back(&task);
  return size() - before;
}

void Step::Complete() {
  if (image_) return;
  if (recurrent_) {
    EqualLengths();
  } else if (room_ != nullptr) {
    Shape();
  } else {
    Fill();
  }
}

void Step::AddPrefix(ScoringTask& task) {
  Prefix& prefix = *task.prefix();
  const auto same = [&](const Chunk& chunk) { return chunk.task->prefix() == &prefix; };
  if (std::any_of(chunks_.begin(), chunks_.end(), same)) return;   // another task's turn
  if (recurrent_ && batch_.size() > 0 && chunks_.empty()) return;  // rule 2
  if (deterministic_ && batch_.size() > 0) return;

  const size_t missing = prefix.missing();
  size_t count = std::min(missing, room());
  if (deterministic_) {
    const size_t from = prefix.evaluated - TextStart(prefix.tokens, prefix.evaluated);
    count = std::min(missing, plan_.step_tokens - from % plan_.step_tokens);
  }
  const size_t begin = prefix.evaluated;
  count = TextEnd(prefix.tokens, begin, begin + count) - begin;
  const Token* const tokens = prefix.tokens.data() + begin;
  chunks_.push_back({&task, count});
  work_ += Work::Of(static_cast<double>(count), static_cast<double>(prefix.evaluated));
  std::vector<llama_seq_id> sequences{prefix.sequence};
  const size_t first = task.runs().size();
  if (count == missing && !recurrent_ && !deterministic_) {  // rule 1
    for (size_t left = room() - count; left > 0 && BeginRun(task);) {
      const ScoringTask::Run& run = task.runs().back();
      sequences.push_back(run.fork);
      left -= std::min(left, task.question(run).tokens.size());
    }
  }
  batch_.AddShared(tokens, count, prefix.Position(begin), std::move(sequences));
  for (size_t i = first; i < task.runs().size(); ++i) AddRun(task, i);
}

// Rule 5.
void Step::AddImage(ScoringTask& task) {
  if (batch_.size() > 0) return;
  const Prefix& prefix = *task.prefix();
  const auto& images = task.request.images;
  const auto it = std::find_if(images.begin(), images.end(),
                               [&](const auto& image) { return image->begin == prefix.evaluated; });
  image_ = {it->get(), prefix.Position(prefix.evaluated), prefix.sequence};
  chunks_.push_back({&task, (*it)->rows});
  work_ += Work::Of(static_cast<double>((*it)->rows), static_cast<double>(prefix.evaluated));
}

void Step::AddQuestions(ScoringTask& task) {
  if (recurrent_ && !chunks_.empty()) return;  // rule 2
  if (deterministic_ && batch_.size() > 0) return;
  for (size_t i = 0; i < task.runs().size(); ++i) {
    if (room() == 0) return;
    AddRun(task, i);
  }
  while (room() > 0) {
    if (deterministic_ && batch_.size() > 0) return;
    const TokenizedQuestion* const next = task.next_question();
    if (recurrent_ && batch_.size() > 0 && next != nullptr && next->tokens.size() > room()) return;
    if (!BeginRun(task)) return;
    AddRun(task, task.runs().size() - 1);
  }
}

// Starts the task's next question, if there is one, and room for it.
bool Step::BeginRun(ScoringTask& task) {
  const TokenizedQuestion* const next = task.next_question();
  if (next == nullptr) return false;
  if (!task.runs().empty()) {  // admission.h, rule 1: the first one has room
    size_t own = next->tokens.size();
    for (const ScoringTask::Run& run : task.runs()) own += task.question(run).tokens.size();
    const size_t others = admission_.ReservedCells(&task);
    if (device_.cells().used() + others + std::max(own, task.longest()) > device_.cells().total()) {
      return false;
    }
  }
  const llama_seq_id fork = device_.Fork(*task.prefix());
  if (fork == Sequences::kNone) return false;
  task.Begin(fork);
  return true;
}

void Step::AddRun(ScoringTask& task, size_t index) {
  const ScoringTask::Run& run = task.runs()[index];
  const std::vector<Token>& tokens = task.question(run).tokens;
  const size_t begin = run.evaluated;
  const size_t end = std::min(tokens.size(), begin + room());
  int32_t row = -1;
  for (size_t i = begin; i < end; ++i) {
    const bool last = i + 1 == tokens.size();
    if (last) {
      row = static_cast<int32_t>(batch_.size());
      ++outputs_;
    }
    batch_.Add(tokens[i], task.position() + i, run.fork, last);
  }
  task.Plan(index, end - begin, row);
  work_ += Work::Of(static_cast<double>(end - begin),
                    static_cast<double>(task.request.prefix.size() + begin));
}

// Rule 3.
void Step::Fill() {
  const size_t last = batch_.size() % plan_.microbatch_tokens;
  if (last == 0 || last >= plan_.min_rows) return;
  padding_ = plan_.min_rows - last;
  for (size_t i = 0; i < padding_; ++i) batch_.Add(0, i, filler(), false);
}

// Rule 6.
void Step::Shape() {
  const size_t size = batch_.size();
  // Cells to spare, but for the one by which the room says what is read.
  const size_t most = std::min<size_t>(plan_.microbatch_tokens, size + plan_.spare_cells - 1);
  const size_t tokens = std::min(shapes_.Tokens(size + 1, plan_.min_rows), most);
  padding_ = tokens - size;
  const size_t sequences = batch_.sequences();
  const size_t wanted = shapes_.Sequences(sequences + 1) - sequences;
  std::vector<llama_seq_id> fillers(std::min<size_t>(wanted, plan_.fillers - 1));
  std::iota(fillers.begin(), fillers.end(), filler());
  const Token none = 0;
  batch_.AddShared(&none, 1, 0, std::move(fillers));
  for (size_t i = 1; i < padding_; ++i) batch_.Add(0, i, filler(), false);
  batch_.AddOutputs(std::min<size_t>(shapes_.Outputs(outputs_, tokens), plan_.sequences) -
                    outputs_);
  read_cells_ = shapes_.Cells(room_->Take(tokens));
  room_->Read(read_cells_);
}

void Step::Empty() {
  if (room_ != nullptr) {
    room_->Release();
  } else if (padding_ > 0 && !recurrent_) {
    device_.sequences().Cut(filler(), 0);
  }
}

// Rule 2.
void Step::EqualLengths() {
  struct End {
    size_t length;
    size_t position;
    llama_seq_id fork;
  };
  std::vector<End> ends;
  for (const ScoringTask* task : tasks_) {
    for (const ScoringTask::Run& run : task->runs()) {
      if (run.row < 0) continue;
      ends.push_back({run.taken, task->position() + run.evaluated, run.fork});
    }
  }
  std::sort(ends.begin(), ends.end(),
            [](const End& a, const End& b) { return a.length < b.length; });
  for (size_t begin = 0; begin < ends.size();) {
    size_t end = begin + 1;
    size_t more = 0;  // tokens that make all of [begin, end) as long as its last
    for (; end < ends.size(); ++end) {
      const size_t step = (end - begin) * (ends[end].length - ends[end - 1].length);
      if (step > kMicrobatchCost || padding_ + more + step > plan_.spare_cells ||
          batch_.size() + more + step > plan_.batch_tokens) {
        break;
      }
      more += step;
    }
    for (size_t i = begin; i < end; ++i) {
      for (size_t k = ends[i].length; k < ends[end - 1].length; ++k) {
        batch_.Add(0, ends[i].position + k, ends[i].fork, false);
        ++padding_;
      }
    }
    begin = end;
  }
}

}  // namespace oi
