// The end of a step: its rows are read, and its tasks have their answers.

#include <algorithm>

#include "clock.h"
#include "llama.h"
#include "scorer.h"

namespace oi {

bool Scorer::Collect() {
  Flight flight = std::move(flights_.front());
  flights_.erase(flights_.begin());
  vision_ms_ = flight.vision_ms;
  if (flight.lost) {
    Count(flight);
    return false;
  }
  bool finite = true;
  try {
    // Else the rows are there (logits/output_turns.h). On a GPU also without any: else the step's
    // time would be counted in the next one.
    if (flights_.empty() && (!flight.asked.empty() || on_gpu_)) llama_synchronize(context_.get());
    readout_.Read(flight.asked, RowsOf(flight));
  } catch (...) {
    LoseFlights();
    admission_.Restart();
    throw;
  }
  for (const Readout::Asked& asked : flight.asked) {
    if (asked.finite) {
      asked.task->Answer(asked.item);
    } else {
      asked.task->SetNotFinite();
      finite = false;
    }
  }
  Count(flight);
  if (!finite) {
    llama_synchronize(context_.get());
    LoseFlights();
    admission_.Isolate();
  }
  return true;
}

const float* Scorer::RowsOf(const Flight& flight) const {
  return flight.rows != nullptr ? flight.rows : llama_get_logits(context_.get());
}

void Scorer::Count(const Flight& flight) {
  const auto now = Clock::now();
  const double ms = MillisecondsBetween(std::max(flight.begun, collected_), now) - vision_ms_;
  collected_ = now;
  const size_t tokens = flight.tokens + flight.padding;
  ++stats_.steps;
  stats_.evaluated_tokens += tokens;
  stats_.padding_tokens += flight.padding;
  stats_.busy_ms += ms + vision_ms_;
  if (flight.read_cells > 0) {
    stats_.read_pairs += flight.read_cells * tokens;
    stats_.seen_pairs += static_cast<uint64_t>(flight.work.attended);
  }
  recent_.Add(static_cast<double>(flight.tokens), ms);
  rate_.Add(flight.work, ms);
}

// Before all tasks begin anew.
void Scorer::LoseFlights() {
  for (Flight& flight : flights_) flight.lost = true;
}

}  // namespace oi
