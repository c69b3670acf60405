// Checks in the Test Anything Protocol, for tap to read.

#pragma once

#include <string>

namespace oi::kernels::test {

// One line; counted. `detail` says what was seen.
void Check(bool ok, const std::string& name, const std::string& detail = "");

// The plan; the exit status.
int FinishChecks();

void CheckSets();
void CheckProducts();
void CheckExperts();
void CheckGates();
void CheckAttention();
void CheckAttentionPlaces();
void CheckRows();
void CheckUnknown();

}  // namespace oi::kernels::test
