// A saved state as a file: a header with a checksum, the tokens, the bytes.

#pragma once

#include <cstdint>
#include <filesystem>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "saved_state.h"

namespace oi {

using StateTime = std::filesystem::file_time_type;

struct StateFile {
  std::string name;  // StateName() of the tokens
  std::vector<Token> tokens;
  uint64_t bytes = 0;
  StateTime used;  // last; the file's own time tells it to the next process
};

// SHA-256, in hexadecimal digits.
std::string StateName(const std::vector<Token>& tokens);

// Bytes of the state's file.
uint64_t StateFileBytes(const SavedState& state);

// Makes the folder; what lies in it, the most recently used first. Files of ours that are cut
// short or misnamed are deleted. Throws EngineError ERR_INVALID_ARGUMENT if it cannot be written.
std::list<StateFile> ScanStates(const std::string& folder);

// Null if the file is gone, damaged, or of other tokens (`damaged`), and where there is no memory
// for it.
std::shared_ptr<const SavedState> ReadStateFile(const std::string& folder, const StateFile& file,
                                                bool& damaged) noexcept;

// False if it could not be written whole; then there is no such file.
bool WriteStateFile(const SavedState& state, const std::string& folder,
                    const StateFile& file) noexcept;

void RemoveStateFile(const std::string& folder, const std::string& name) noexcept;

}  // namespace oi
