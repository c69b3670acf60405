// Where a model lies, as llama.cpp logged it while loading.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../log.h"
#include "../types.h"
#include "devices.h"

namespace oi {

class Model;

// One entry for each GPU, with what is free in it now, and the last for the CPU's memory.
std::vector<Placement> EmptyPlacement(const Devices& gpus);

// The entry of a kind of buffer: "CUDA0" is that GPU's, "CUDA_Host" and "CPU_Mapped" are the CPU's.
Placement& EntryOf(std::vector<Placement>& placement, const std::string& buffer);

// Where the weights of a loaded model are. What was free is known from `planned`, before they were.
std::vector<Placement> PlacementOf(const Model& model, const std::vector<Placement>& planned);

void AddLogged(std::vector<Placement>& placement, const LoggedMemory& logged);

// "6.2 GiB"
std::string Gigabytes(uint64_t bytes);

}  // namespace oi
