#include "log.h"

#include <cstdio>
#include <cstdlib>
#include <mutex>

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

// "llama_kv_cache: size =  112.00 MiB (  1024 cells, …": there are several where some layers have a
// sliding window. llama.cpp's figures have no function in its public headers.
void AddMemory(const char* text) {
  double mebibytes = 0;
  if (std::sscanf(text, "llama_kv_cache: size = %lf MiB", &mebibytes) == 1) {
    memory.cell_bytes += mebibytes * (1 << 20);
  } else if (std::sscanf(text, "llama_memory_recurrent: size = %lf MiB", &mebibytes) == 1) {
    memory.state_bytes += mebibytes * (1 << 20);
  }
}

void OnLog(ggml_log_level level, const char* text, void*) {
  if (Verbose()) std::fputs(text, stderr);
  const ggml_log_level effective = level == GGML_LOG_LEVEL_CONT ? last_level : level;
  last_level = effective;
  if (effective == GGML_LOG_LEVEL_INFO) AddMemory(text);
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

LoggedMemory MemoryLogged() { return memory; }

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
