#include "world.h"

namespace oi {
namespace {

constexpr const char* kWords[] = {"river", "stone",  "letter", "cloud", "engine",
                                  "paper", "window", "garden", "seven", "Brot"};

std::string Words(Random& random, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) text += ' ';
    text += kWords[Below(random, std::size(kWords))];
  }
  return text;
}

}  // namespace

World::World(PlainModel& plain, uint64_t seed) : plain_(plain) {
  Random random(seed);
  for (size_t i = 0; i < kStates; ++i) {
    const size_t count = i % 9 == 0 ? 150 + Below(random, 150) : 2 + Below(random, 60);
    const bool goes_on = i > 0 && i % 3 == 1;
    const std::string& other = goes_on ? states_[Below(random, i)] : "";
    std::string text = other.substr(0, other.size() / 2);
    if (i % 6 == 4) text = other;  // all of it, and more
    if (text.size() > 900) text.resize(900);
    states_.push_back(text + (text.empty() ? "" : " ") + Words(random, count));
  }
  for (size_t i = 0; i < kQuestions; ++i) {
    questions_.push_back("\n" + Words(random, 1 + (i * i) % 23) + "?");
  }
}

const std::vector<float>& World::Answer(size_t state, size_t question) {
  std::vector<float>& answer = answers_[{state, question}];
  if (answer.empty()) {
    std::vector<int> prompt = plain_.Tokenize(states_[state], true);
    const std::vector<int> suffix = plain_.Tokenize(questions_[question], false);
    prompt.insert(prompt.end(), suffix.begin(), suffix.end());
    answer = plain_.Logits(prompt, candidates_);
  }
  return answer;
}

}  // namespace oi
