// `oi-layers-test FILE`: how many layers ReadLayerWeights() finds, the output head among them, or
// why it finds none. The addon reads them only where there is a GPU.

#include "../plan/layer_weights.h"

#include <cstdio>

#include "../error.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    std::printf("%zu\n", oi::ReadLayerWeights(argv[1]).layers.size());
    return 0;
  } catch (const oi::EngineError& error) {
    std::printf("%s %s\n", error.code, error.what());
    return 1;
  }
}
