// Graphs on the CPU are computed, and their threads meet, as a crew says: ours take the place of
// ggml_graph_compute() and ggml_barrier() (native/compat/replaceable.h). Pools that are no crew's
// go on as they are.

#pragma once

namespace oi {

class Crew;

// While its pool lives.
void AddCrew(Crew& crew);
void RemoveCrew(const Crew& crew);

// Whether graphs that bring no pool, as those of projectors, may be computed by fewer threads than
// they ask for. Of this thread; true unless told.
void AdaptHere(bool adapts);

}  // namespace oi
