#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "../product.h"
#include "../rows.h"
#include "lab.h"
#include "tap.h"

namespace oi::kernels::test {
namespace {

using Case = Operation::GatedCase;

bool SameBits(const Floats& a, const Floats& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

Floats Swiglu(const Floats& gates, const Floats& values) {
  Floats result(values.size());
  FindRows()->swiglu(gates.data(), values.data(), static_cast<int64_t>(values.size()),
                     result.data());
  return result;
}

// The largest error, relative to the exact result.
double Error(const Floats& gates, const Floats& values, const Floats& results) {
  double worst = 0;
  for (size_t i = 0; i < gates.size(); ++i) {
    const double exact = gates[i] / (1 + std::exp(-double{gates[i]})) * values[i];
    worst = std::max(worst, std::abs(results[i] - exact) / std::abs(exact));
  }
  return worst;
}

using GeluKind = Operation::GeluKind;

Floats Gelu(Side side, GeluKind kind, const Floats& gates, const Floats& values, int64_t length,
            int threads = 1) {
  const auto operation = Operation::Gelu(kind, gates, values, length);
  operation->Compute(side, threads);
  return operation->Result();
}

// The largest error, relative to what goes in.
double GeluError(const Floats& gates, const Floats& values, const Floats& results) {
  double worst = 0;
  for (size_t i = 0; i < gates.size(); ++i) {
    const double x = gates[i];
    const double value = values.empty() ? 1 : values[i];
    const double inner = std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x);
    const double exact = x / 2 * (1 + std::tanh(inner)) * value;
    const double error = std::abs(results[i] - exact) / std::abs(x * value);
    if (std::isnan(error)) return std::numeric_limits<double>::infinity();
    worst = std::max(worst, error);
  }
  return worst;
}

void CheckGelu(GeluKind kind, const std::string& name) {
  std::mt19937 random(850);
  double ours = 0;
  double stock = 0;
  bool threads_agree = true;
  for (const int64_t length : {1, 15, 64, 100, 1536}) {
    for (const float size : {1e-3f, 1.0f, 20.0f, 1e15f}) {
      const auto count = static_cast<size_t>(3 * length);
      const Floats gates = RandomFloats(count, size, random);
      const Floats values = kind == GeluKind::kAlone ? Floats{} : RandomFloats(count, 1, random);
      const Floats result = Gelu(Side::kOurs, kind, gates, values, length);
      ours = std::max(ours, GeluError(gates, values, result));
      stock = std::max(stock,
                       GeluError(gates, values, Gelu(Side::kStock, kind, gates, values, length)));
      const Floats other = Gelu(Side::kOurs, kind, gates, values, length, 2);
      threads_agree = threads_agree && SameBits(result, other);
    }
  }
  char detail[100];
  std::snprintf(detail, sizeof(detail), "%.3e, stock %.3e", ours, stock);
  Check(ours < stock && ours < 1e-6, name + ": closer to exact than stock", detail);
  Check(threads_agree, name + ": the same bits on two threads");
  const Floats values = kind == GeluKind::kAlone ? Floats{} : Floats{1, 1, 1, 1};
  const Floats odd = Gelu(Side::kOurs, kind, {std::nanf(""), 0, -1e38f, 1e38f}, values, 4);
  Check(std::isnan(odd[0]) && odd[1] == 0 && std::abs(odd[2]) < 1e6f && odd[3] == 1e38f,
        name + ": NaN stays NaN, and large values are nothing or themselves");
}

void CheckSwiglu() {
  std::mt19937 random(800);
  double ours = 0;
  double stock = 0;
  for (const size_t count : {1u, 15u, 64u, 100u, 3072u}) {
    for (const float size : {1e-3f, 1.0f, 20.0f}) {
      Floats gates = RandomFloats(count, size, random);
      for (float& gate : gates) gate = std::max(gate, -80.0f);
      const Floats values = RandomFloats(count, 1, random);
      const auto operation = Operation::Swiglu(gates, values);
      operation->Compute(Side::kStock, 1);
      ours = std::max(ours, Error(gates, values, Swiglu(gates, values)));
      stock = std::max(stock, Error(gates, values, operation->Result()));
    }
  }
  char detail[100];
  std::snprintf(detail, sizeof(detail), "%.3e, stock %.3e", ours, stock);
  Check(ours <= stock && ours < 1e-6, "SwiGLU: no further from exact than stock", detail);

  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Floats gates{std::nanf(""), kInfinity, -kInfinity, 0, -1e30f, 1e30f, 1, 1};
  const Floats values{1, 1, 1, 5, 1, 1, std::nanf(""), -kInfinity};
  const Floats result = Swiglu(gates, values);
  Check(std::isnan(result[0]) && std::isnan(result[6]), "SwiGLU: NaN stays NaN");
  Check(result[1] == kInfinity && result[7] == -kInfinity && !std::isfinite(result[2]),
        "SwiGLU: infinity is no finite result");
  Check(result[3] == 0 && std::abs(result[4]) < 1e-3f && result[5] == 1e30f,
        "SwiGLU: far from 0 a gate is shut or open");
}

Floats Product(const Case& one, const std::vector<uint8_t>& bytes) {
  const auto operation =
      one.ids.empty()
          ? Operation::Product(Side::kOurs, one.type, one.rows, one.k, bytes, one.columns)
          : Operation::Experts(Side::kOurs, one.type, one.rows, one.k, one.experts, bytes,
                               one.columns, one.ids, one.used);
  operation->Compute(Side::kOurs, 1);
  return operation->Result();
}

Floats InTurn(const Case& one) { return Swiglu(Product(one, one.gates), Product(one, one.values)); }

Floats Compute(const Case& one, int threads) {
  const auto operation = Operation::GatedProducts(one);
  operation->Compute(Side::kOurs, threads);
  return operation->Result();
}

Case RandomCase(ggml_type type, int64_t rows, int64_t k, int64_t tokens, bool experts,
                std::mt19937& random) {
  Case one;
  one.type = type;
  one.rows = rows;
  one.k = k;
  if (experts) {
    one.experts = 5;
    one.used = 3;
    for (int64_t i = 0; i < tokens * one.used; ++i) {
      one.ids.push_back(static_cast<int32_t>(random() % 5));
    }
  }
  for (auto* bytes : {&one.gates, &one.values}) {
    *bytes = Encode(type, RandomFloats(one.experts * rows * k, 0.2f, random), k);
  }
  one.columns = RandomFloats(tokens * k, 1, random);
  return one;
}

void CheckJoined(ggml_type type) {
  std::mt19937 random(type + 900);
  const std::string name = ggml_type_name(type);
  const int64_t unit = ggml_blck_size(type) == 256 ? 256 : 64;
  for (const bool experts : {false, true}) {
    bool same = true;
    constexpr int kRounds = 10;
    for (int round = 0; round < kRounds; ++round) {
      const int64_t rows = 16 * (1 + static_cast<int64_t>(random() % 30));
      const int64_t k = unit * (1 + static_cast<int64_t>(random() % 6));
      // The last has more columns than are computed at once.
      const int64_t tokens = round < kRounds - 1 ? 1 + static_cast<int64_t>(random() % 40) : 530;
      const Case one = RandomCase(type, rows, k, tokens, experts, random);
      same = same && SameBits(InTurn(one), Compute(one, 1 + round % 4));
    }
    Check(same, name + (experts ? ", experts: " : ": ") +
                    "two products and their gate have the bits of each by itself");
  }

  Case one = RandomCase(type, 64, 2 * unit, 7, false, random);
  const Floats clean = Compute(one, 2);
  Case spoiled = one;
  spoiled.columns[3 * one.k + 17] = std::nanf("");
  const Floats result = Compute(spoiled, 2);
  bool seen = true;
  bool others = true;
  for (int64_t i = 0; i < 7 * one.rows; ++i) {
    const bool bad = i / one.rows == 3;
    if (bad) seen = seen && std::isnan(result[i]);
    if (!bad) others = others && result[i] == clean[i];
  }
  Check(seen && others, name + ": NaN spoils the gates of its own column alone");

  one.added = true;
  const Floats products = Product(one, one.gates);
  const Floats sums = Compute(one, 2);
  bool computed = true;
  for (size_t i = 0; i < sums.size(); ++i) {
    // llama.cpp's SwiGLU, which differs in the last bits.
    const double size = std::abs(clean[i]) + std::abs(products[i]);
    computed = computed && std::abs(double{sums[i]} - products[i] - clean[i]) <= 1e-5 * size;
  }
  Check(computed, name + ": a product that others need too is computed for all");
}

}  // namespace

void CheckGates() {
  CheckSwiglu();
  CheckGelu(GeluKind::kAlone, "GELU");
  CheckGelu(GeluKind::kGate, "GEGLU");
  CheckGelu(GeluKind::kHalves, "GEGLU of halves");
  CheckGelu(GeluKind::kSwappedHalves, "GEGLU of swapped halves");
  // One with each way of scales and minima, and of being unpacked.
  for (const ggml_type type : {GGML_TYPE_Q8_0, GGML_TYPE_Q4_0, GGML_TYPE_Q4_K, GGML_TYPE_Q5_K,
                               GGML_TYPE_Q6_K, GGML_TYPE_Q2_K, GGML_TYPE_IQ2_S}) {
    CheckJoined(type);
  }
  CheckJoined(GGML_TYPE_F16);
  CheckJoined(GGML_TYPE_BF16);
}

}  // namespace oi::kernels::test
