#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "../product.h"
#include "lab.h"
#include "tap.h"

namespace oi::kernels::test {
namespace {

std::vector<ggml_type> AllTypes() {
  std::vector<ggml_type> types{GGML_TYPE_F16, GGML_TYPE_F32, GGML_TYPE_BF16};
  for (const Quantized& quantized : kQuantized) types.push_back(quantized.type);
  return types;
}

Format FormatOf(ggml_type type) {
  for (const auto& [quantized, format] : kQuantized) {
    if (quantized == type) return format;
  }
  if (type == GGML_TYPE_BF16) return Format::kBF16;
  return type == GGML_TYPE_F32 ? Format::kF32 : Format::kF16;
}

bool RoundsWeights(ggml_type type) { return FindProduct(FormatOf(type), 16)->rounds_weights; }

bool RoundsColumns(ggml_type type) {
  return FindProduct(FormatOf(type), 16, /*exact=*/true)->residual != nullptr;
}

int64_t Unit(ggml_type type) { return LengthUnit(FormatOf(type)); }

std::vector<double> Reference(const Floats& weights, const Floats& columns, int64_t k) {
  const int64_t rows = static_cast<int64_t>(weights.size()) / k;
  const int64_t count = static_cast<int64_t>(columns.size()) / k;
  std::vector<double> results(static_cast<size_t>(rows * count));
  for (int64_t c = 0; c < count; ++c) {
    for (int64_t r = 0; r < rows; ++r) {
      double sum = 0;
      for (int64_t i = 0; i < k; ++i) {
        sum += static_cast<double>(weights[r * k + i]) * columns[c * k + i];
      }
      results[c * rows + r] = sum;
    }
  }
  return results;
}

// Root mean square of the differences, over that of the values.
double Error(const Floats& results, const std::vector<double>& reference) {
  double difference = 0;
  double size = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    difference += std::pow(results[i] - reference[i], 2);
    size += std::pow(reference[i], 2);
  }
  return size == 0 ? difference : std::sqrt(difference / size);
}

bool SameBits(const Floats& a, const Floats& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

Floats Compute(Side side, ggml_type type, int64_t rows, int64_t k,
               const std::vector<uint8_t>& bytes, const Floats& columns, int threads,
               bool exact = false) {
  const auto operation = Operation::Product(side, type, rows, k, bytes, columns);
  if (exact) operation->MakeExact();
  operation->Compute(side, threads);
  return operation->Result();
}

Floats Column(const Floats& columns, int64_t size, int64_t c) {
  return Floats(columns.begin() + c * size, columns.begin() + (c + 1) * size);
}

void CheckShapes(ggml_type type) {
  std::mt19937 random(type);
  const std::string name = ggml_type_name(type);
  double ours = 0;
  double stock = 0;
  bool threads_agree = true;
  bool widths_agree = true;
  const int rounds = HasOwnCode(type) ? 24 : 8;
  for (int round = 0; round < rounds; ++round) {
    const int64_t rows = RandomRows(random);
    // The last has more columns than some kernels take at once.
    const bool many = round == rounds - 1;
    const int64_t k = Unit(type) * (many ? 12 : 1 + static_cast<int64_t>(random() % 12));
    const int64_t count = many         ? 130
                          : round < 14 ? round + 1
                                       : 1 + static_cast<int64_t>(random() % 50);
    const auto bytes = Encode(type, RandomFloats(rows * k, 0.05f, random), k);
    Floats columns = RandomFloats(count * k, 1, random);
    // A few values that stand out, as activations of language models have them.
    for (int64_t c = 0; c < count; ++c) columns[c * k + random() % k] *= 30;
    const auto reference = Reference(Decode(type, bytes), columns, k);
    const Floats result = Compute(Side::kOurs, type, rows, k, bytes, columns, 1);
    ours += Error(result, reference) / rounds;
    stock += Error(Compute(Side::kStock, type, rows, k, bytes, columns, 1), reference) / rounds;
    for (int threads = 2; threads <= 4; ++threads) {
      const Floats other = Compute(Side::kOurs, type, rows, k, bytes, columns, threads);
      threads_agree = threads_agree && SameBits(result, other);
    }
    const auto c = static_cast<int64_t>(random() % count);
    const Floats alone =
        Compute(Side::kOurs, type, rows, k, bytes, Column(columns, k, c), 1 + round % 3);
    widths_agree = widths_agree && SameBits(alone, Column(result, rows, c));
  }
  char detail[100];
  std::snprintf(detail, sizeof(detail), "%.3e, stock %.3e", ours, stock);
  // Both round activations; what is more than a thousandth in 24 rounds is no noise.
  const double noise = 0.001 * std::sqrt(24.0 / rounds);
  Check(ours <= stock * (1 + noise) && ours > 0, name + " is no further from exact than stock",
        detail);
  Check(threads_agree, name + " gives the same bits on 1 to 4 threads");
  Check(widths_agree, name + " gives a column the same bits alone and among others");
}

void CheckExact(ggml_type type) {
  std::mt19937 random(type + 300);
  const std::string name = std::string(ggml_type_name(type)) + ", exact";
  double exact = 0;
  double rounded = 0;
  bool threads_agree = true;
  bool widths_agree = true;
  for (const int64_t count : {1, 2, 3, 5, 7, 12, 13, 40}) {
    const int64_t rows = 16 + RandomRows(random);
    // More than the blocks below that leave nothing.
    const int64_t k = Unit(type) * (2 + static_cast<int64_t>(random() % 11));
    const auto bytes = Encode(type, RandomFloats(rows * k, 0.05f, random), k);
    Floats columns = RandomFloats(count * k, 1, random);
    for (int64_t c = 0; c < count; ++c) columns[c * k + random() % k] *= 30;
    // Blocks of nothing, and of what is nearly nothing.
    std::fill_n(columns.begin(), 32, 0.0f);
    std::fill_n(columns.end() - 32, 32, 1e-37f);
    const auto reference = Reference(Decode(type, bytes), columns, k);
    const Floats result = Compute(Side::kOurs, type, rows, k, bytes, columns, 1, true);
    exact = std::max(exact, Error(result, reference));
    rounded =
        std::max(rounded, Error(Compute(Side::kOurs, type, rows, k, bytes, columns, 1), reference));
    for (int threads = 2; threads <= 3; ++threads) {
      threads_agree = threads_agree && SameBits(result, Compute(Side::kOurs, type, rows, k, bytes,
                                                                columns, threads, true));
    }
    const auto c = static_cast<int64_t>(random() % count);
    widths_agree = widths_agree && SameBits(Compute(Side::kOurs, type, rows, k, bytes,
                                                    Column(columns, k, c), 2, true),
                                            Column(result, rows, c));
  }
  char detail[100];
  std::snprintf(detail, sizeof(detail), "%.3e, else %.3e", exact, rounded);
  // Rounding to bytes leaves at most 1/254 of what is rounded, to BF16 1/256.
  const double ratio = !RoundsColumns(type) ? 1 : RoundsWeights(type) ? 10 : 200;
  Check(exact < 1e-4 && exact <= rounded / ratio, name + ": a fraction of the error", detail);
  Check(threads_agree, name + ": the same bits on 1 to 3 threads");
  Check(widths_agree, name + ": a column has the same bits alone and among others");

  const int64_t rows = 32;
  const int64_t k = Unit(type);
  const auto bytes = Encode(type, RandomFloats(rows * k, 1, random), k);
  Floats columns = RandomFloats(3 * k, 1, random);
  const Floats clean = Compute(Side::kOurs, type, rows, k, bytes, columns, 1, true);
  columns[5] = std::nanf("");
  columns[k + 7] = std::numeric_limits<float>::infinity();
  const Floats result = Compute(Side::kOurs, type, rows, k, bytes, columns, 1, true);
  bool lost = true;
  for (int64_t i = 0; i < 2 * rows; ++i) lost = lost && !std::isfinite(result[i]);
  Check(lost && SameBits(Column(result, rows, 2), Column(clean, rows, 2)),
        name + ": NaN and infinity spoil their columns alone");
}

void CheckExtremes(ggml_type type) {
  std::mt19937 random(type + 100);
  const std::string name = ggml_type_name(type);
  const int64_t rows = 48;
  const int64_t k = Unit(type) * 3;
  const auto bytes = Encode(type, RandomFloats(rows * k, 1, random), k);
  const Floats columns = RandomFloats(7 * k, 1, random);
  const Floats clean = Compute(Side::kOurs, type, rows, k, bytes, columns, 2);
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
        -std::numeric_limits<float>::infinity()}) {
    Floats spoiled = columns;
    spoiled[3 * k + 17] = bad;
    const Floats result = Compute(Side::kOurs, type, rows, k, bytes, spoiled, 2);
    bool others = true;
    bool seen = true;
    for (int64_t c = 0; c < 7; ++c) {
      if (c != 3) {
        others = others && SameBits(Column(result, rows, c), Column(clean, rows, c));
        continue;
      }
      for (const float value : Column(result, rows, c)) seen = seen && !std::isfinite(value);
    }
    const std::string what = name + ", a column with " + std::to_string(bad);
    Check(seen, what + " has no finite result");
    Check(others, what + " changes no other column");
  }
  for (const float size : {0.0f, 1e-44f, 1e-38f, 1e-30f, 1e30f}) {
    Floats scaled = columns;
    for (float& value : scaled) value *= size;
    const auto reference = Reference(Decode(type, bytes), scaled, k);
    const double error = Error(Compute(Side::kOurs, type, rows, k, bytes, scaled, 1), reference);
    // Denormal activations count as 0.
    const double bound = size == 0.0f ? 0 : size < 1e-37f ? 1 : 0.02;
    Check(error <= bound, name + " with values around " + std::to_string(std::log10(size)),
          std::to_string(error));
  }
}

// The largest weights times the largest activations, all of one sign: sums that overflow, if any
// do.
void CheckLargest(ggml_type type) {
  if (!ggml_is_quantized(type)) return;
  std::mt19937 random(type + 600);
  const int64_t rows = 32;
  const int64_t k = 1024;
  for (const int64_t count : {1, 9}) {
    auto bytes = Encode(type, RandomFloats(rows * k, 1, random), k);
    MakeExtreme(type, bytes, random);
    Floats columns(static_cast<size_t>(count * k), 1.0f);
    for (int64_t c = 1; c < count; ++c) {
      for (int64_t i = 0; i < k; ++i) {
        columns[c * k + i] = c % 3 == 1 ? -1.0f : random() % 2 == 0 ? 1.0f : -1.0f;
      }
    }
    const Floats weights = Decode(type, bytes);
    double largest = 0;
    for (const float weight : weights) largest = std::max<double>(largest, std::abs(weight));
    const auto reference = Reference(weights, columns, k);
    const Floats result = Compute(Side::kOurs, type, rows, k, bytes, columns, 1);
    double worst = 0;
    for (size_t i = 0; i < result.size(); ++i) {
      worst = std::max(worst, std::abs(result[i] - reference[i]) / (largest * k));
    }
    // These activations are 127 times a scale, so nothing but floats is rounded, and with some
    // kernels weights.
    Check(worst < (RoundsWeights(type) ? 0x1p-9 : 1e-5),
          std::string(ggml_type_name(type)) +
              " with the largest quants, columns: " + std::to_string(count),
          std::to_string(worst));
  }
}

}  // namespace

void CheckProducts() {
  for (const ggml_type type : AllTypes()) {
    CheckShapes(type);
    CheckExact(type);
    CheckExtremes(type);
    CheckLargest(type);
  }
}

void CheckExperts() {
  for (const ggml_type type : AllTypes()) {
    std::mt19937 random(type + 200);
    bool same = true;
    const int rounds = HasOwnCode(type) ? 12 : 4;
    for (int round = 0; round < rounds; ++round) {
      const bool exact = round >= rounds / 2;
      const int64_t rows = 16 * (1 + static_cast<int64_t>(random() % 4));
      const int64_t k = Unit(type) * 2;
      const int64_t experts = 5;
      const int64_t used = 1 + round % 3;
      const int64_t tokens = 1 + static_cast<int64_t>(random() % 20);
      const int64_t per_token = round % 2 == 0 ? 1 : used;
      const auto bytes = Encode(type, RandomFloats(experts * rows * k, 1, random), k);
      const Floats columns = RandomFloats(tokens * per_token * k, 1, random);
      std::vector<int32_t> ids(static_cast<size_t>(tokens * used));
      for (int32_t& id : ids) id = static_cast<int32_t>(random() % experts);
      const auto operation =
          Operation::Experts(Side::kOurs, type, rows, k, experts, bytes, columns, ids, used);
      if (exact) operation->MakeExact();
      operation->Compute(Side::kOurs, 1 + round % 3);
      const Floats result = operation->Result();
      const auto expert_bytes = static_cast<int64_t>(bytes.size()) / experts;
      for (int64_t token = 0; token < tokens; ++token) {
        for (int64_t slot = 0; slot < used; ++slot) {
          const auto start = bytes.begin() + ids[token * used + slot] * expert_bytes;
          const Floats column = Column(columns, k, token * per_token + slot % per_token);
          const Floats alone =
              Compute(Side::kOurs, type, rows, k, {start, start + expert_bytes}, column, 1, exact);
          same = same && SameBits(alone, Column(result, rows, token * used + slot));
        }
      }
    }
    Check(same, std::string(ggml_type_name(type)) +
                    " gives experts' columns the bits that each expert alone gives");
  }
}

}  // namespace oi::kernels::test
