// Every set against the first, kernel by kernel: sums of bytes are whole numbers, and what is done
// with them is done in one order, so no set may differ from another in a bit. Those that round
// weights have no part in it.

#include "../sets.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "emulated.h"
#include "lab.h"
#include "tap.h"
#include "unpacked.h"

namespace oi::kernels::test {
namespace {

// results [columns][rows]
Floats Compute(const ProductKernel& kernel, Format format, int64_t rows, int64_t k,
               const std::vector<uint8_t>& bytes, const Floats& columns) {
  const int64_t count = static_cast<int64_t>(columns.size()) / k;
  std::vector<uint8_t> tiles(bytes.size());
  PackTiles(format, rows, k, bytes.data(), tiles.data());
  std::vector<uint8_t> activations(kernel.activation_bytes(k, count));
  Floats results(static_cast<size_t>(rows * count));
  std::vector<const float*> sources;
  std::vector<float*> targets;
  for (int64_t c = 0; c < count; ++c) {
    sources.push_back(columns.data() + c * k);
    targets.push_back(results.data() + c * rows);
  }
  for (int64_t c = 0; c < count; c += kernel.group) {
    kernel.convert(sources.data() + c, std::min(kernel.group, count - c), k, 0, k,
                   activations.data() + kernel.activation_bytes(k, c));
  }
  kernel.multiply(tiles.data(), k, 0, rows / kTileRows, activations.data(), count, targets.data());
  return results;
}

// Registers are stored there.
uint8_t* Aligned(std::vector<uint8_t>& bytes) {
  return reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(bytes.data()) + 63) / 64 * 64);
}

// The weights that tile registers multiply: those of the file, rounded to BF16.
void CheckUnpacked() {
  if (!UnpacksHere()) return;
  for (const auto& [type, format] : kQuantized) {
    std::mt19937 random(type + 700);
    const int64_t k = 4 * LengthUnit(format);
    const auto bytes = Encode(type, RandomFloats(kTileRows * k, 1, random), k);
    std::vector<uint8_t> tile(TileBytes(format, k) + 64);
    std::vector<uint8_t> unpacked(static_cast<size_t>(kTileRows * k * 2) + 64);
    PackTiles(format, kTileRows, k, bytes.data(), Aligned(tile));
    UnpackForAmx(format, Aligned(tile), k, Aligned(unpacked));
    const Floats weights = Decode(type, bytes);
    double worst = 0;
    for (int64_t i = 0; i < kTileRows * k; ++i) {
      const int64_t row = i / k;
      const int64_t value = i % k;
      const int64_t at = (value / 2 * kTileRows + row) * 2 + value % 2;
      uint16_t half = 0;
      std::memcpy(&half, Aligned(unpacked) + at * 2, 2);
      const auto found = std::bit_cast<float>(static_cast<uint32_t>(half) << 16);
      const double size = std::max(std::abs(weights[i]), std::numeric_limits<float>::min());
      worst = std::max(worst, std::abs(double{found} - weights[i]) / size);
    }
    Check(worst <= 0x1p-8, std::string(ggml_type_name(type)) + " is unpacked for AMX",
          std::to_string(worst));
  }
}

}  // namespace

void CheckSets() {
  CheckUnpacked();
  std::vector<const KernelSet*> sets;
  for (const KernelSet& set : AllSets()) {
    const bool exact = !set.product(Format::kQ8_0)->rounds_weights;
    if (exact && set.runs_here()) sets.push_back(&set);
  }
  if (kEmulatedVnni.runs_here()) sets.push_back(&kEmulatedVnni);
  for (const auto& [type, format] : kQuantized) {
    std::mt19937 random(type + 500);
    std::vector<bool> same(sets.size(), true);
    for (int round = 0; round < 12; ++round) {
      const int64_t rows = 16 * (1 + static_cast<int64_t>(random() % 5));
      const int64_t k = LengthUnit(format) * (1 + static_cast<int64_t>(random() % 12));
      const int64_t count = 1 + static_cast<int64_t>(random() % 20);
      auto bytes = Encode(type, RandomFloats(rows * k, 1, random), k);
      if (round % 2 == 1) MakeExtreme(type, bytes, random);
      const Floats columns = RandomFloats(count * k, 1, random);
      const Floats first = Compute(*sets[0]->product(format), format, rows, k, bytes, columns);
      for (size_t i = 1; i < sets.size(); ++i) {
        const Floats other = Compute(*sets[i]->product(format), format, rows, k, bytes, columns);
        same[i] = same[i] && std::memcmp(first.data(), other.data(), first.size() * 4) == 0;
      }
    }
    for (size_t i = 1; i < sets.size(); ++i) {
      Check(same[i], std::string(ggml_type_name(type)) + " gives the same bits with " +
                         sets[i]->name + " as with " + sets[0]->name);
    }
  }
}

}  // namespace oi::kernels::test
