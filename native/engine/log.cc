#include "log.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>

#include "llama.h"
#include "mtmd.h"

namespace oi {
namespace {

thread_local std::string first_error;
thread_local LoggedMemory memory;
thread_local ggml_log_level last_level = GGML_LOG_LEVEL_NONE;

bool Verbose() {
  static const bool verbose = std::getenv("OI_NATIVE_LOG") != nullptr;
  return verbose;
}

// llama.cpp's figures have no function in its public headers. There are several lines of a kind
// where some layers have a sliding window:
//   "llama_kv_cache: size =  112.00 MiB (  1024 cells, …"
//   "load_tensors:        CUDA0 model buffer size =  5532.43 MiB"
void AddMemory(const char* text) {
  double mebibytes = 0;
  std::array<char, 64> name{};
  std::array<char, 16> what{};
  if (std::sscanf(text, "llama_kv_cache: size = %lf MiB", &mebibytes) == 1) {
    memory.cell_bytes += mebibytes * (1 << 20);
  } else if (std::sscanf(text, "llama_memory_recurrent: size = %lf MiB", &mebibytes) == 1) {
    memory.state_bytes += mebibytes * (1 << 20);
  } else if (std::sscanf(text, "%*[a-z_]: %63s %15s buffer size = %lf MiB", name.data(),
                         what.data(), &mebibytes) == 3) {
    LoggedMemory::Buffers& buffers = memory.buffers[name.data()];
    const std::string_view kind = what.data();
    if (kind == "model") buffers.weights += mebibytes * (1 << 20);
    if (kind == "KV" || kind == "RS") buffers.cells += mebibytes * (1 << 20);
    if (kind == "compute") buffers.compute += mebibytes * (1 << 20);
    if (kind == "output") buffers.outputs += mebibytes * (1 << 20);
  }
}

// "load_tensors: layer  28 assigned to device CUDA0, is_swa = 0"
void AddLayer(const char* text) {
  std::array<char, 64> device{};
  if (std::sscanf(text, "load_tensors: layer %*d assigned to device %63[^,]", device.data()) == 1) {
    ++memory.layers[device.data()];
  }
}

void OnLog(ggml_log_level level, const char* text, void*) {
  if (Verbose()) std::fputs(text, stderr);
  const ggml_log_level effective = level == GGML_LOG_LEVEL_CONT ? last_level : level;
  last_level = effective;
  if (effective == GGML_LOG_LEVEL_INFO) AddMemory(text);
  if (effective == GGML_LOG_LEVEL_DEBUG) AddLayer(text);
  if (effective == GGML_LOG_LEVEL_WARN && std::strstr(text, "failed to mlock") != nullptr) {
    memory.lock_failed = true;
  }
  if (effective == GGML_LOG_LEVEL_ERROR && first_error.empty()) first_error = text;
}

}  // namespace

void CaptureLog() {
  static std::once_flag once;
  std::call_once(once, [] {
    llama_log_set(OnLog, nullptr);
    mtmd_log_set(OnLog, nullptr);
  });
}

void ClearLog() {
  first_error.clear();
  memory = {};
}

const LoggedMemory& MemoryLogged() { return memory; }

std::string FirstLoggedError() {
  std::string line = first_error;
  while (!line.empty() && (line.back() == '\n' || line.back() == ' ')) line.pop_back();
  // "llama_model_load: error loading model: <reason>"
  for (const char* prefix :
       {"llama_model_load: ", "error loading model: ", "gguf_init_from_file: "}) {
    if (line.rfind(prefix, 0) == 0) line.erase(0, std::string(prefix).size());
  }
  return line;
}

}  // namespace oi
