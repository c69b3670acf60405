// How a step of the encoder is filled (prefix_encoder.h).

#include <algorithm>
#include <iterator>

#include "prefix_encoder.h"
#include "prefix_reading.h"

namespace oi {
namespace {

// Turns without room until a task is waited for.
constexpr size_t kPatience = 32;

}  // namespace

void PrefixEncoder::StartStep(size_t tokens) {
  stats_.capacity_tokens += tokens;
  step_.Clear();
  new_states_.clear();
  outputs_.clear();
  tasks_.clear();
  work_ = {};
  alone_ = false;
  size_ = tokens;
}

void PrefixEncoder::LimitStep(size_t tokens) {
  size_ = std::min(size_, std::max(tokens, step_.tokens.size()));
}

bool PrefixEncoder::Admit(Reading& task) {
  if (suspects_ > 0 && (!task.suspect() || !active_.empty())) return false;  // rule 5
  if (next_in_ != nullptr && next_in_ != &task) return false;                // rule 6
  const std::vector<Token>& state = task.request.prefix;
  const double seconds = rate_.Ms(Work::Whole(state.size())) / 1000;
  StateCache::Found found =
      cache_.Pin(WantedOf(task.request), 0, seconds / static_cast<double>(state.size()), 0);
  if (!found.prefix) {
    const bool lost = !found.wait && step_.tokens.empty();
    if (lost && ++task.turns_lost >= kPatience) next_in_ = &task;
    return false;
  }
  if (next_in_ == &task) next_in_ = nullptr;
  task.turns_lost = 0;
  active_.insert(&task);  // first: what this throws unpins the prefix
  task.prefix = found.prefix.release();
  task.result.tier = found.tier;
  return true;
}

size_t PrefixEncoder::Take(Task& offered) {
  auto& task = static_cast<Reading&>(offered);
  const size_t before = step_.tokens.size();
  if (full() || (task.suspect() && before > 0)) return 0;
  if (task.prefix == nullptr && !Admit(task)) return 0;
  const size_t items = outputs_.size();
  if (AddState(task)) AddQuestions(task);
  if (task.suspect()) alone_ = true;
  if (step_.tokens.size() > before || outputs_.size() > items) tasks_.push_back(&task);
  return step_.tokens.size() - before;
}

// False if its state has to be in a step before its questions are.
bool PrefixEncoder::AddState(Reading& task) {
  Prefix& prefix = *task.prefix;
  if (prefix.missing() == 0) return true;
  const auto same = [&](const NewState& other) { return other.prefix == &prefix; };
  if (std::any_of(new_states_.begin(), new_states_.end(), same)) return !separate_;
  const size_t count = prefix.tokens.size();
  // Rule 3.
  if (!step_.tokens.empty() && step_.tokens.size() + count > size_) return false;
  KeptCells& cells = kept_.Make(prefix.sequence, count);
  new_states_.push_back({&prefix, &task, step_.parts.size()});
  AddPart(prefix.tokens.data(), count, 0, 0, {}, {.state = nullptr, .keep = &cells});
  work_ += Work::Whole(count);
  alone_ = separate_;
  return !separate_;
}

// What the parts of a request see of its state: kept, or in this step.
size_t PrefixEncoder::AddQuestions(Reading& task) {
  const Prefix& prefix = *task.prefix;
  const size_t state = prefix.tokens.size();
  kernels::SeenCells before[2] = {{nullptr, 0, state}, {}};
  ForwardStep::Kept kept;
  size_t group = step_.parts.size();
  if (prefix.missing() == 0) {
    kept.state = kept_.Find(prefix.sequence);
  } else {
    const auto it = std::find_if(new_states_.begin(), new_states_.end(),
                                 [&](const NewState& other) { return other.prefix == &prefix; });
    before[0].first = step_.parts[it->part].first;
    // Its own state stands right before its questions, and may share their tiles.
    if (it->part + 1 == step_.parts.size()) group = step_.parts.back().group;
  }
  const size_t start = step_.tokens.size();
  while (task.next < task.items.size()) {
    Reading::Item& item = task.items[task.next];
    const TokenizedQuestion& question = task.Question(item);
    const QuestionPart& own = item.parts.front();
    size_t part = std::max<size_t>(item.begun, 1);
    const size_t least = own.size() + (part < item.parts.size() ? item.parts[part].size() : 0);
    // What a step begins with, it takes whole (rule 3).
    const bool first = step_.tokens.empty();
    if (!first && step_.tokens.size() + least > size_) break;
    const auto add = [&](const QuestionPart& one, size_t position, size_t level) {
      const size_t row = step_.tokens.size();
      AddPart(question.tokens.data() + one.begin, one.size(), position, level, before, kept);
      step_.parts.back().group = group;
      return row;
    };
    const size_t own_row = add(own, state, 1);
    work_ +=
        {static_cast<double>(own.size()), static_cast<double>(own.size() * (state + own.size()))};
    before[1] = {nullptr, own_row, own.size()};
    const auto read = [&](const QuestionPart& one, size_t row, size_t logit) {
      for (const size_t token : one.read) {
        outputs_.push_back({&task, task.next, logit++, row + token - one.begin});
      }
      return logit;
    };
    const auto kind = static_cast<PrefixKind>(question.candidates.front());
    // The logit of no is 0: only that of yes is read.
    if (kind == PrefixKind::kNoul) read(own, own_row, 1);
    size_t logit = 0;
    for (size_t i = 1; i < part; ++i) logit += item.parts[i].read.size();
    for (bool some = false; part < item.parts.size(); ++part, some = true) {
      const QuestionPart& one = item.parts[part];
      if (some && step_.tokens.size() + one.size() > size_) break;
      const size_t row = add(one, state + own.size(), 2);
      logit = read(one, row, logit);
      work_ += {static_cast<double>(one.size()),
                static_cast<double>(one.size() * (state + own.size() + one.size()))};
    }
    item.begun = part;
    if (part < item.parts.size()) break;
    ++task.next;
    if (separate_) {
      alone_ = true;
      break;
    }
  }
  return step_.tokens.size() - start;
}

void PrefixEncoder::AddPart(const Token* tokens, size_t count, size_t position, size_t level,
                            const kernels::SeenCells (&before)[2], const ForwardStep::Kept& kept) {
  kernels::StepPart part;
  part.first = step_.tokens.size();
  part.count = count;
  part.levels = level;
  std::copy(std::begin(before), std::end(before), part.before);
  part.group = step_.parts.size();
  for (size_t i = 0; i < count; ++i) {
    step_.tokens.push_back(tokens[i]);
    step_.positions.push_back(static_cast<int32_t>(position + i));
    step_.types.push_back(readout_.type(level));
  }
  step_.parts.push_back(part);
  step_.kept.push_back(kept);
}

// The step was not evaluated.
void PrefixEncoder::Undo() {
  for (const Output& output : outputs_) {
    Reading& task = *output.task;
    task.next = std::min(task.next, output.item);
    Reading::Item& item = task.items[output.item];
    // Back to the part that the logit is read of.
    size_t part = 1;
    for (size_t read = 0; part < item.parts.size(); ++part) {
      read += item.parts[part].read.size();
      if (output.logit < read) break;
    }
    item.begun = item.parts.size() == 1 ? 0 : std::min(item.begun, part);
  }
}

}  // namespace oi
