// What llama.cpp says of an operation and our kernels do not know leaves the operation to it: its
// result is llama.cpp's own, in every bit.

#include <cmath>
#include <cstring>
#include <memory>

#include "lab.h"
#include "tap.h"

namespace oi::kernels::test {
namespace {

Floats Computed(std::unique_ptr<Operation> operation, Side side, int slot, int32_t value) {
  operation->SetParam(slot, value);
  operation->Compute(side, 1);
  return operation->Result();
}

bool SameBits(const Floats& a, const Floats& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// `make`: an operation of which our kernel rounds otherwise. `slot`: one that llama.cpp does not
// read.
template <class Make>
void CheckSlot(const char* name, Make make, int slot) {
  const Floats stock = Computed(make(Side::kStock), Side::kStock, slot, 0);
  const Floats known = Computed(make(Side::kOurs), Side::kOurs, slot, 0);
  const Floats unknown = Computed(make(Side::kOurs), Side::kOurs, slot, 1);
  Check(
      !SameBits(known, stock) && SameBits(unknown, stock),
      std::string(name) + ": with a value in slot " + std::to_string(slot) + " it is llama.cpp's");
}

}  // namespace

void CheckUnknown() {
  std::mt19937 random(700);
  Floats rows = RandomFloats(40 * 1024, 1, random);
  // Its square is no float, and ours adds doubles.
  rows[0] = 2e19f;
  CheckSlot(
      "norm", [&](Side side) { return Operation::Norm(side, rows, 1024, {}, 1e-6f); }, 1);

  Operation::AttentionCase attention;
  attention.tokens = 8;
  attention.cells = 64;
  attention.queries = RandomFloats(8 * 128, 1, random);
  attention.keys = RandomFloats(64 * 128, 1, random);
  attention.values = RandomFloats(64 * 128, 1, random);
  attention.mask.assign(8 * 64, 0);
  CheckSlot(
      "attention", [&](Side side) { return Operation::Attention(side, attention); }, 4);

  const Floats gates(rows.begin() + 1, rows.begin() + 1 + 1024);
  const auto gelu = [&](Operation::GeluKind kind) {
    return [&, kind](Side) { return Operation::Gelu(kind, gates, gates, 1024); };
  };
  CheckSlot("GELU", gelu(Operation::GeluKind::kAlone), 1);
  CheckSlot("GEGLU", gelu(Operation::GeluKind::kGate), 2);

  // Our RoPE may have llama.cpp's bits, so the case is one that ours would compute wrongly: an
  // offset.
  Operation::RopeCase rope;
  rope.turned = 64;
  rope.positions = {5, 6, 7};
  rope.values = RandomFloats(3 * 128, 1, random);
  const Floats stock = Computed(Operation::Rope(rope), Side::kStock, 15, 32);
  const Floats ours = Computed(Operation::Rope(rope), Side::kOurs, 15, 32);
  Check(SameBits(ours, stock), "RoPE: with an offset it is llama.cpp's");
}

}  // namespace oi::kernels::test
