// Products: ours, stock llama.cpp and the register peak, in one run, round by round in turn.
//
// `oi-kernel-bench [--threads N] [--rounds N] [--columns N,N,...] [--types q8_0,...]
//  [--shape ROWSxK,...] [--attention TOKENSxCELLS,...] [--rows TOKENS,...] [--set NAME]` prints one
// JSON object per measurement: medians in operations per second, of rows in values per second.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <sstream>
#include <string>
#include <thread>

#include "../kernels.h"
#include "../sets.h"
#include "../test/lab.h"
#include "peaks.h"

namespace oi::kernels::test {
namespace {

std::vector<ggml_type> AllTypes() {
  std::vector<ggml_type> types{GGML_TYPE_BF16, GGML_TYPE_F16, GGML_TYPE_F32};
  for (const Quantized& quantized : kQuantized) types.push_back(quantized.type);
  return types;
}

struct Options {
  int threads = 1;
  int rounds = 5;
  std::vector<int64_t> columns{1, 4, 16, 64, 512};
  std::vector<ggml_type> types = AllTypes();
  std::vector<std::pair<int64_t, int64_t>> shapes{{3072, 1024}};
  std::vector<std::pair<int64_t, int64_t>> attention;  // instead of products
  std::vector<int64_t> rows;                           // instead of products
};

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// Of one thread, the time that it had a processor: others on the machine then matter less.
double Now(int threads) {
  if (threads == 1) return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Of all threads together.
double RateOf(Peak work, int threads) {
  const auto rate = [&] {
    const double start = Now(threads);
    const double operations = work();
    return operations / (Now(threads) - start);
  };
  if (threads == 1) return rate();
  std::vector<double> peaks(static_cast<size_t>(threads));
  std::vector<std::thread> running;
  for (double& peak : peaks) running.emplace_back([&] { peak = rate(); });
  for (std::thread& thread : running) thread.join();
  double sum = 0;
  for (const double peak : peaks) sum += peak;
  return sum;
}

// Of `work`, done by each of `repeats` computations, per second.
double Rate(const Options& options, Operation& operation, Side side, double work, int repeats) {
  operation.Compute(side, options.threads);
  const double start = Now(options.threads);
  for (int i = 0; i < repeats; ++i) operation.Compute(side, options.threads);
  return work * repeats / (Now(options.threads) - start);
}

void Measure(const Options& options, ggml_type type, int64_t rows, int64_t k, int64_t count) {
  std::mt19937 random(1);
  const auto bytes = Encode(type, RandomFloats(rows * k, 1, random), k);
  const Floats columns = RandomFloats(count * k, 1, random);
  const double operations = 2.0 * rows * k * count;
  const auto ours = Operation::Product(Side::kOurs, type, rows, k, bytes, columns);
  const auto stock = Operation::Product(Side::kStock, type, rows, k, bytes, columns);
  const auto repeats = static_cast<int>(std::clamp(1e9 / operations, 1.0, 1000.0));
  const auto rate = [&](Operation& operation, Side side) {
    return Rate(options, operation, side, operations, repeats);
  };
  const Weights weights = type == GGML_TYPE_BF16    ? Weights::kBF16
                          : ggml_is_quantized(type) ? Weights::kQuantized
                                                    : Weights::kFloats;
  std::vector<double> of_ours, of_stock, peaks, gains, shares, vector_shares;
  for (int round = 0; round < options.rounds; ++round) {
    peaks.push_back(RateOf(PeakOf(weights), options.threads));
    const double vectors = RateOf(VectorPeakOf(weights), options.threads);
    of_ours.push_back(rate(*ours, Side::kOurs));
    of_stock.push_back(rate(*stock, Side::kStock));
    gains.push_back(of_ours.back() / of_stock.back());
    shares.push_back(of_ours.back() / peaks.back());
    vector_shares.push_back(of_ours.back() / vectors);
  }
  std::printf(
      "{\"type\":\"%s\",\"rows\":%lld,\"k\":%lld,\"columns\":%lld,\"threads\":%d,"
      "\"ours\":%.4g,\"stock\":%.4g,\"peak\":%.4g,\"gain\":%.3f,\"share\":%.3f,"
      "\"vector_share\":%.3f}\n",
      ggml_type_name(type), static_cast<long long>(rows), static_cast<long long>(k),
      static_cast<long long>(count), options.threads, Median(of_ours), Median(of_stock),
      Median(peaks), Median(gains), Median(shares), Median(vector_shares));
  std::fflush(stdout);
}

// Every token sees every cell; 16 heads of 128 values over 8 heads of keys.
void MeasureAttention(const Options& options, int64_t tokens, int64_t cells) {
  std::mt19937 random(1);
  Operation::AttentionCase one;
  one.heads = 16;
  one.key_heads = 8;
  one.tokens = tokens;
  one.cells = cells;
  one.queries = RandomFloats(one.heads * tokens * one.size, 1, random);
  one.keys = RandomFloats(one.key_heads * cells * one.size, 1, random);
  one.values = RandomFloats(one.key_heads * cells * one.size, 1, random);
  one.mask.assign(static_cast<size_t>(tokens * cells), 0.0f);
  const double operations = 4.0 * one.heads * tokens * cells * one.size;
  const auto operation = Operation::Attention(Side::kOurs, one);
  const auto repeats = static_cast<int>(std::clamp(1e9 / operations, 1.0, 1000.0));
  const auto rate = [&](Side side) { return Rate(options, *operation, side, operations, repeats); };
  std::vector<double> of_ours, of_stock, gains;
  for (int round = 0; round < options.rounds; ++round) {
    of_ours.push_back(rate(Side::kOurs));
    of_stock.push_back(rate(Side::kStock));
    gains.push_back(of_ours.back() / of_stock.back());
  }
  std::printf(
      "{\"tokens\":%lld,\"cells\":%lld,\"threads\":%d,\"ours\":%.4g,\"stock\":%.4g,"
      "\"gain\":%.3f}\n",
      static_cast<long long>(tokens), static_cast<long long>(cells), options.threads,
      Median(of_ours), Median(of_stock), Median(gains));
  std::fflush(stdout);
}

void MeasureRows(const Options& options, const char* kind, int64_t tokens, size_t values,
                 Operation& ours, Operation& stock) {
  const auto repeats = static_cast<int>(std::clamp(1e8 / static_cast<double>(values), 1.0, 1000.0));
  const auto rate = [&](Operation& operation, Side side) {
    return Rate(options, operation, side, static_cast<double>(values), repeats);
  };
  std::vector<double> of_ours, of_stock, gains;
  for (int round = 0; round < options.rounds; ++round) {
    of_ours.push_back(rate(ours, Side::kOurs));
    of_stock.push_back(rate(stock, Side::kStock));
    gains.push_back(of_ours.back() / of_stock.back());
  }
  std::printf(
      "{\"rows\":\"%s\",\"tokens\":%lld,\"threads\":%d,\"ours\":%.4g,\"stock\":%.4g,"
      "\"gain\":%.3f}\n",
      kind, static_cast<long long>(tokens), options.threads, Median(of_ours), Median(of_stock),
      Median(gains));
  std::fflush(stdout);
}

// Of 1024 values, times weights.
void MeasureNorm(const Options& options, int64_t tokens) {
  constexpr int64_t kLength = 1024;
  std::mt19937 random(1);
  const Floats values = RandomFloats(tokens * kLength, 1, random);
  const Floats weights = RandomFloats(kLength, 1, random);
  const auto ours = Operation::Norm(Side::kOurs, values, kLength, weights, 1e-6f);
  const auto stock = Operation::Norm(Side::kStock, values, kLength, weights, 1e-6f);
  MeasureRows(options, "norm", tokens, values.size(), *ours, *stock);
}

// Of 16 heads of 128 values.
void MeasureRope(const Options& options, int64_t tokens) {
  std::mt19937 random(1);
  Operation::RopeCase one;
  one.heads = 16;
  for (int64_t i = 0; i < tokens; ++i) one.positions.push_back(static_cast<int32_t>(i));
  one.values = RandomFloats(tokens * one.heads * one.size, 1, random);
  const auto operation = Operation::Rope(one);
  MeasureRows(options, "RoPE", tokens, one.values.size(), *operation, *operation);
}

std::vector<std::string> Split(const std::string& text) {
  std::vector<std::string> parts;
  std::stringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

Options Parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    const std::string value = argv[i + 1];
    if (name == "--threads") options.threads = std::stoi(value);
    if (name == "--rounds") options.rounds = std::stoi(value);
    if (name == "--columns") {
      options.columns.clear();
      for (const std::string& part : Split(value)) options.columns.push_back(std::stoll(part));
    }
    if (name == "--rows") {
      for (const std::string& part : Split(value)) options.rows.push_back(std::stoll(part));
    }
    if (name == "--types") {
      options.types.clear();
      for (int type = 0; type < GGML_TYPE_COUNT; ++type) {
        const char* known = ggml_type_name(static_cast<ggml_type>(type));
        for (const std::string& part : Split(value)) {
          if (known != nullptr && part == known) {
            options.types.push_back(static_cast<ggml_type>(type));
          }
        }
      }
    }
    if (name == "--shape" || name == "--attention") {
      auto& pairs = name == "--shape" ? options.shapes : options.attention;
      pairs.clear();
      for (const std::string& part : Split(value)) {
        pairs.emplace_back(std::stoll(part), std::stoll(part.substr(part.find('x') + 1)));
      }
    }
    if (name == "--set") {
      for (const KernelSet& set : AllSets()) {
        if (value == set.name && set.runs_here()) UseSet(set);
      }
    }
  }
  return options;
}

}  // namespace
}  // namespace oi::kernels::test

int main(int argc, char** argv) {
  using namespace oi::kernels;
  const test::Options options = test::Parse(argc, argv);
  if (Description().empty()) {
    std::fprintf(stderr, "This CPU has none of the kernels' instructions.\n");
    return 1;
  }
  ggml_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  for (const auto& [tokens, cells] : options.attention) {
    test::MeasureAttention(options, tokens, cells);
  }
  for (const int64_t tokens : options.rows) {
    test::MeasureNorm(options, tokens);
    test::MeasureRope(options, tokens);
  }
  if (!options.attention.empty() || !options.rows.empty()) return 0;
  for (const ggml_type type : options.types) {
    for (const auto& [rows, k] : options.shapes) {
      for (const int64_t columns : options.columns) {
        test::Measure(options, type, rows, k, columns);
      }
    }
  }
}
