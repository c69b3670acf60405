// Jobs that wait for a tokenizer. Workspaces take turns, a job each: what one sends does not keep
// another waiting longer than for the job that is being tokenized. A close comes last.
//
// Not thread-safe.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>

#include "job.h"

namespace oi {

// A job's size in bytes of text; images count by their tokens.
size_t TextBytes(const Job& job);

class Intake {
 public:
  using JobPtr = std::unique_ptr<Job>;

  // Takes the job only where it does not throw std::bad_alloc, which a close never does. Nothing
  // else here throws.
  void Push(JobPtr& job);
  // The next one; null if there is none but a close.
  JobPtr Next();
  // The close, once nothing is before it; else null.
  JobPtr Close();
  // Takes out the job that Cancel() names, a close aside; null if there is none.
  JobPtr Take(uint32_t id);

  bool empty() const { return lanes_.empty() && close_ == nullptr; }
  // Whether nothing but a close waits.
  bool drained() const { return lanes_.empty(); }

 private:
  struct Lane {
    bool scores;  // texts that are counted for answers have turns of their own
    uint32_t workspace;
    std::deque<JobPtr> jobs;  // not empty
  };

  std::list<Lane> lanes_;  // the next one first
  JobPtr close_;
};

}  // namespace oi
