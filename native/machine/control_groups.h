// The control groups that limit this process, of both versions.
//
// A limit holds for all groups below: those of every group count, from the one that the process is
// in up to the outermost that can be seen. Where they lie is what the kernel says of the process
// and of its mounts; in a container the two may disagree, see control_groups.cc.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace oi {

// `root` stands for "/" in each of these, so that tests can bring a machine of their own.

// Of all quotas of processor time the smallest, in cores; nothing without one.
std::optional<double> QuotaCores(const std::string& root = "");

// Bytes that the groups leave, of all of them the least. The pages of files count as used there and
// are given up when memory is needed: they are not counted here, or a model file that was just
// read would leave no room for itself. Nothing without a limit.
std::optional<uint64_t> GroupBytesLeft(const std::string& root = "");

}  // namespace oi
