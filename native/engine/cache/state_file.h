// A saved state as a file: a header with a checksum, the scope, the tokens, the bytes.
//
// A file is named by its scope and tokens, and says both: what stands under another's name is not
// read.

#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "saved_state.h"
#include "state_folder.h"

namespace oi {

struct StateFile {
  std::string name;  // StateName() of scope and tokens
  std::string scope;
  std::vector<Token> tokens;
  uint64_t bytes = 0;
  StateTime used;  // last; the file's own time tells it to the next process
};

// SHA-256, in hexadecimal digits.
std::string StateName(const std::string& scope, const std::vector<Token>& tokens);

// Bytes of the state's file.
uint64_t StateFileBytes(const SavedState& state);

// What lies in the folder, the most recently used first. Files of ours that are cut short,
// misnamed, or not to be trusted are deleted.
std::list<StateFile> ScanStates(const StateFolder& folder);

// Null if the file is gone, damaged, or of other tokens or another scope (`damaged`), and where
// there is no memory for it.
std::shared_ptr<const SavedState> ReadStateFile(const StateFolder& folder, const StateFile& file,
                                                bool& damaged) noexcept;

// False if it could not be written whole; then there is no such file.
bool WriteStateFile(const SavedState& state, const StateFolder& folder,
                    const StateFile& file) noexcept;

void RemoveStateFile(const StateFolder& folder, const std::string& name) noexcept;

}  // namespace oi
