// Every kernel against double precision, against stock llama.cpp, and against itself at other
// widths and thread counts. `oi-kernel-test [--set NAME] [products] [experts] [gates] [attention]
// [rows] [unknown]` prints TAP of the set that this CPU gets, or of another that runs here; without
// arguments, of all. `oi-kernel-test sets` compares the sets that run here with one another.

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "../kernels.h"
#include "../sets.h"
#include "emulated.h"
#include "ggml.h"
#include "tap.h"

namespace oi::kernels::test {
namespace {

int checks = 0;
int failures = 0;

}  // namespace

void Check(bool ok, const std::string& name, const std::string& detail) {
  ++checks;
  if (!ok) ++failures;
  std::printf("%s %d - %s%s%s\n", ok ? "ok" : "not ok", checks, name.c_str(),
              detail.empty() ? "" : ": ", detail.c_str());
  std::fflush(stdout);
}

int FinishChecks() {
  std::printf("1..%d\n", checks);
  return failures == 0 ? 0 : 1;
}

}  // namespace oi::kernels::test

namespace {

// Null if there is none of that name that runs here.
const oi::kernels::KernelSet* FindSet(const std::string& name) {
  using oi::kernels::test::kEmulatedVnni;
  if (name == kEmulatedVnni.name && kEmulatedVnni.runs_here()) return &kEmulatedVnni;
  for (const oi::kernels::KernelSet& set : oi::kernels::AllSets()) {
    if (name == set.name && set.runs_here()) return &set;
  }
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace oi::kernels;
  std::vector<std::string> parts(argv + 1, argv + argc);
  if (parts.size() >= 2 && parts[0] == "--set") {
    const KernelSet* set = FindSet(parts[1]);
    if (set == nullptr) {
      std::printf("1..0 # SKIP this CPU or this build has no set %s\n", parts[1].c_str());
      return 0;
    }
    UseSet(*set);
    parts.erase(parts.begin(), parts.begin() + 2);
  }
  if (Description().empty()) {
    std::printf("1..0 # SKIP this CPU has none of the kernels' instructions\n");
    return 0;
  }
  ggml_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
  const auto wanted = [&](const char* part) {
    return parts.empty() || std::find(parts.begin(), parts.end(), part) != parts.end();
  };
  if (!parts.empty() && wanted("sets")) test::CheckSets();
  if (wanted("products")) test::CheckProducts();
  if (wanted("experts")) test::CheckExperts();
  if (wanted("gates")) test::CheckGates();
  if (wanted("attention")) {
    test::CheckAttention();
    test::CheckAttentionPlaces();
  }
  if (wanted("rows")) test::CheckRows();
  if (wanted("unknown")) test::CheckUnknown();
  return test::FinishChecks();
}
