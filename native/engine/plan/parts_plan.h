// Plans the sizes of an encoder that is read in parts (../prefix/prefix_encoder.h).

#pragma once

#include "context_plan.h"

namespace oi {

// Fills in what the options leave open. On any device. Cells are those of states alone, made when a
// state is read.
ContextPlan PlanForParts(const Model& model, const EngineOptions& options, ContextPlan plan);

}  // namespace oi
