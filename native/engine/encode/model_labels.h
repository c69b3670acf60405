// The labels of a classifier, from its metadata.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

struct llama_model;

namespace oi {

// Of its outputs, in order; none if its file names none.
std::vector<std::string> LabelsOf(const llama_model* model);

// The place of yes if the labels are yes and no, in any case and order.
std::optional<size_t> YesOf(const std::vector<std::string>& labels);

// As a JSON array of strings.
std::string JsonOf(const std::vector<std::string>& labels);

}  // namespace oi
