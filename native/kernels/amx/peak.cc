// What the tile registers alone can do: the yardstick of the benchmarks.

#include "peak.h"

#include "tiles.h"

namespace oi::kernels::amx {

double PeakBf16() {
  const KeepShapes keep;
  TileShapes shapes;
  for (int tile = 0; tile < 8; ++tile) shapes.Set(tile, 16, kTileWidth);
  UseShapes(shapes);  // which also zeroes them
  constexpr int kIterations = 20'000;
  for (int i = 0; i < kIterations; ++i) {
    Dot<0, 4, 6>();
    Dot<1, 4, 7>();
    Dot<2, 5, 6>();
    Dot<3, 5, 7>();
  }
  return 4.0 * kIterations * 16 * 16 * 32 * 2;
}

}  // namespace oi::kernels::amx
