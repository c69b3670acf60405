// Turns exceptions into a job's error at the border of a thread.

#pragma once

#include <new>

#include "../engine/error.h"
#include "job.h"

namespace oi {

// The only place that does: no exception may leave a thread of ours.
template <typename Body>
void Guard(Job& job, Body body) noexcept {
  try {
    body();
  } catch (const EngineError& e) {
    job.SetError(e.code, e.what(), e.question);
  } catch (const std::bad_alloc&) {
    job.SetError("ERR_MODEL_MEMORY", "out of memory");
  } catch (const std::exception& e) {
    job.SetError("ERR_ENGINE_INTERNAL", e.what());
  }
}

}  // namespace oi
