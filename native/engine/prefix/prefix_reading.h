// A request of `prefix@1` and how far it is.

#pragma once

#include <algorithm>
#include <vector>

#include "../task.h"
#include "prefix_encoder.h"

namespace oi {

struct PrefixEncoder::Reading : Task {
  using Task::Task;

  // A question that is evaluated.
  struct Item {
    size_t question;
    size_t logits;  // where they begin, in the result
    std::vector<QuestionPart> parts;
    size_t begun = 0;  // of the parts; the first, the question's own, is in each step
  };

  bool done() const override { return finished == items.size(); }
  const TokenizedQuestion& Question(const Item& item) const {
    return request.questions[item.question];
  }
  // Parts of the item that are one: the question alone, or with its options.
  Work WorkOf(const Item& item, size_t from) const {
    const size_t state = request.prefix.size();
    const size_t own = item.parts.front().size();
    const auto work = [](size_t count, size_t before) {
      return Work{static_cast<double>(count), static_cast<double>(count * (before + count))};
    };
    Work sum = work(own, state);
    for (size_t i = std::max<size_t>(from, 1); i < item.parts.size(); ++i) {
      sum += work(item.parts[i].size(), state + own);
    }
    return sum;
  }

  std::vector<Item> items;
  size_t next = 0;      // item that has parts left
  size_t finished = 0;  // items that are answered
  Prefix* prefix = nullptr;
  Work left;             // of the items
  size_t expected = 0;   // tokens of the state that a cache had when the task was made
  bool own = false;      // its state was evaluated on its behalf
  size_t evaluated = 0;  // tokens
  size_t turns_lost = 0;
};

}  // namespace oi
