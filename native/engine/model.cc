#include "model.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <mutex>
#include <set>
#include <utility>

#include "../kernels/kernels.h"
#include "error.h"
#include "gguf_file.h"
#include "llama.h"
#include "log.h"
#include "plan/devices.h"
#include "plan/layer_weights.h"

namespace oi {
namespace {

constexpr char kTemplateKey[] = "tokenizer.chat_template";
constexpr char kDecisionKey[] = ".decision.type";   // behind the architecture's name
constexpr char kCausalKey[] = ".attention.causal";  // the same
constexpr char kExactKey[] = "oi.exact_matmuls";

// llama.cpp reports a missing file like a damaged one, so existence is checked first.
void CheckMagic(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw EngineError("ERR_MODEL_NOT_FOUND", path + " cannot be read");
  std::array<char, 4> magic{};
  if (!file.read(magic.data(), magic.size()) || std::memcmp(magic.data(), "GGUF", 4) != 0) {
    throw EngineError("ERR_MODEL_LOAD", path + " is not a GGUF file");
  }
}

struct ProgressState {
  const std::atomic<bool>& stop;
  const Model::Progress& report;
};

bool OnProgress(float progress, void* data) {
  const auto* state = static_cast<ProgressState*>(data);
  if (state->report) state->report(progress);
  return !state->stop.load(std::memory_order_relaxed);
}

std::string TokenText(const llama_vocab* vocab, llama_token token) {
  return token == LLAMA_TOKEN_NULL ? "" : llama_vocab_get_text(vocab, token);
}

llama_load_mode LoadMode(const EngineOptions& options) {
  if (options.metadata_only) return LLAMA_LOAD_MODE_NONE;
  if (options.mlock) {
    return options.mmap ? LLAMA_LOAD_MODE_MMAP_MLOCK : LLAMA_LOAD_MODE_MLOCK;
  }
  return options.mmap ? LLAMA_LOAD_MODE_AUTO : LLAMA_LOAD_MODE_NONE;
}

// Keeps the experts of the first layers in RAM, while a model is loaded.
class ExpertsOnCpu {
 public:
  explicit ExpertsOnCpu(int32_t layers) {
    for (int32_t i = 0; i < layers; ++i) {
      patterns_.push_back(ExpertsPattern(static_cast<size_t>(i)));
    }
    for (const std::string& pattern : patterns_) {
      overrides_.push_back({pattern.c_str(), ggml_backend_cpu_buffer_type()});
    }
    overrides_.push_back({nullptr, nullptr});
  }

  const llama_model_tensor_buft_override* get() const {
    return patterns_.empty() ? nullptr : overrides_.data();
  }

 private:
  std::vector<std::string> patterns_;
  std::vector<llama_model_tensor_buft_override> overrides_;
};

// ", 12 % of the weights (F32) without": of what is multiplied; "" if it is less than a hundredth.
std::string WithoutKernels(const std::string& path) {
  uint64_t all = 0;
  uint64_t left = 0;
  std::set<std::string> types;
  const GgufFile file(path);
  const std::vector<MatrixFacts> matrices = file.Matrices();
  const bool has_output =
      std::any_of(matrices.begin(), matrices.end(),
                  [](const MatrixFacts& matrix) { return matrix.name == "output.weight"; });
  const bool tied = !has_output && !IsEncoder(file.Text("general.architecture").value_or(""));
  for (const auto& [name, type, columns, rows, count, bytes] : matrices) {
    // Rows of tables are looked up.
    const bool table = name.find("_embd") != std::string::npos || name == "token_types.weight";
    if (table && !(tied && name == "token_embd.weight")) continue;
    all += bytes;
    if (kernels::HasMatmul(type, columns, rows, count)) continue;
    left += bytes;
    types.insert(ggml_type_name(type));
  }
  const uint64_t percent = all == 0 ? 0 : (left * 100 + all / 2) / all;
  if (percent == 0) return "";
  std::string text;
  for (const std::string& type : types) text += (text.empty() ? "" : ", ") + type;
  return ", " + std::to_string(percent) + " % of the weights (" + text + ") without";
}

// The decision type in the metadata of a file that cannot be loaded; "" if it is no decision model.
std::string DecisionType(const std::string& path) {
  const GgufFile file(path);
  return file.Text(file.Text("general.architecture").value_or("") + kDecisionKey).value_or("");
}

}  // namespace

std::unique_ptr<Model> Model::Load(const EngineOptions& options, const std::atomic<bool>& stop,
                                   const Progress& progress) {
  static std::once_flag once;
  std::call_once(once, llama_backend_init);
  CaptureLog();
  Devices gpus = FindGpus(options.device);
  if (options.gpu_layers == 0) gpus.clear();
  CheckMagic(options.model_path);
  const bool own_kernels = options.kernels && !kernels::Description().empty();
  const kernels::LoadScope use_kernels(own_kernels, options.mlock);

  ProgressState state{stop, progress};
  llama_model_params params = llama_model_default_params();
  params.n_gpu_layers = gpus.empty() ? 0 : options.gpu_layers;
  // An empty list too: without a list llama.cpp takes all GPUs, and puts weights that stay on the
  // CPU into their host buffers, which our kernels do not handle.
  Devices devices = gpus;
  devices.push_back(nullptr);
  params.devices = devices.data();
  params.no_host = own_kernels;
  params.split_mode = options.split == Split::kRow ? LLAMA_SPLIT_MODE_ROW : LLAMA_SPLIT_MODE_LAYER;
  std::vector<float> shares = options.tensor_split;
  shares.resize(llama_max_devices());
  if (!options.tensor_split.empty()) params.tensor_split = shares.data();
  const ExpertsOnCpu experts(gpus.empty() ? 0 : options.cpu_experts);
  params.tensor_buft_overrides = experts.get();
  params.load_mode = LoadMode(options);
  params.no_alloc = options.metadata_only;
  params.progress_callback = OnProgress;
  params.progress_callback_user_data = &state;

  ClearLog();
  llama_model* raw = llama_model_load_from_file(options.model_path.c_str(), params);
  if (raw == nullptr) {
    if (stop) throw EngineError("ERR_ENGINE_CLOSED", "closed while the model was loading");
    const std::string reason = FirstLoggedError();
    const auto says = [&](const char* text) { return reason.find(text) != std::string::npos; };
    const bool unknown = says("unknown model architecture");
    // A decision model's head may be tensors that llama.cpp does not know, or expects elsewhere.
    if (unknown || says("wrong number of tensors") || says("wrong shape")) {
      if (const std::string type = DecisionType(options.model_path); !type.empty()) {
        throw EngineError("ERR_MODEL_UNSUPPORTED",
                          options.model_path + ": decision model of the type " + type +
                              ", which this llama.cpp cannot load: " + reason);
      }
    }
    throw EngineError(unknown ? "ERR_MODEL_UNSUPPORTED" : "ERR_MODEL_LOAD",
                      options.model_path + ": " + (reason.empty() ? "cannot be loaded" : reason));
  }

  auto model =
      std::unique_ptr<Model>(new Model(raw, std::move(gpus), MemoryLogged(), own_kernels,
                                       own_kernels ? WithoutKernels(options.model_path) : ""));
  const std::string type = model->Meta(model->Meta("general.architecture") + kDecisionKey);
  const std::string what = type.empty() ? "" : "decision model of the type " + type + ": ";
  const auto refuse = [&](const char* reason) {
    throw EngineError("ERR_MODEL_UNSUPPORTED", options.model_path + ": " + what + reason);
  };
  if (llama_vocab_type(model->vocab_) == LLAMA_VOCAB_TYPE_NONE) refuse("it has no vocabulary");
  const std::string readout = model->Meta("oi.readout");
  model->prefix_ = PrefixReadout::Read(readout, options.model_path, raw);
  if (model->prefix_) return model;
  model->hidden_ = HiddenReadout::Read(readout, options.model_path, raw);
  const std::string architecture = model->Meta("general.architecture");
  if (!IsEncoder(architecture) && model->Meta(architecture + kCausalKey) == "false") {
    const std::string reason = architecture + kCausalKey +
                               ": expected true, as what a decoder reads is shared by what is "
                               "read behind it";
    refuse(reason.c_str());
  }
  if (model->hidden_) return model;
  if (llama_model_has_encoder(raw) || !llama_model_has_decoder(raw) || IsEncoder(architecture)) {
    if (!readout.empty()) {
      refuse(("oi.readout: " + readout + " is none that this version of oi reads").c_str());
    }
    refuse(
        "an encoder writes no text, and this one has no head of prefix@1 and no "
        "pooling_type from 1 to 4, of embedding models, rerankers and classifiers: give such a "
        "model, or a decoder, "
        "as an instruct model");
  }
  if (llama_model_is_diffusion(raw)) refuse("a diffusion model does not predict a next token");
  return model;
}

Model::Model(llama_model* model, Devices gpus, LoggedMemory memory, bool kernels,
             std::string without_kernels)
    : model_(model),
      vocab_(llama_model_get_vocab(model)),
      gpus_(std::move(gpus)),
      memory_(std::move(memory)),
      kernels_(kernels),
      without_kernels_(std::move(without_kernels)) {}

Model::~Model() { llama_model_free(model_); }

bool Model::on_cpu() const { return gpus_.empty(); }

bool Model::layers_on_cpu() const { return memory_.layers.count("CPU") > 0; }

bool Model::exact_matmuls() const { return Meta(kExactKey) == "true"; }

bool Model::recurrent() const {
  return llama_model_is_recurrent(model_) || llama_model_is_hybrid(model_);
}

size_t Model::window() const { return static_cast<size_t>(std::max(0, llama_model_n_swa(model_))); }

std::string Model::Meta(const std::string& key) const {
  const int32_t length = llama_model_meta_val_str(model_, key.c_str(), nullptr, 0);
  if (length < 0) return "";
  std::string value(static_cast<size_t>(length) + 1, '\0');
  llama_model_meta_val_str(model_, key.c_str(), value.data(), value.size());
  value.resize(static_cast<size_t>(length));
  return value;
}

ModelFacts Model::Facts() const {
  ModelFacts facts;
  facts.architecture = Meta("general.architecture");
  std::array<char, 256> description{};
  llama_model_desc(model_, description.data(), description.size());
  facts.description = description.data();
  if (memory_.lock_failed) {
    facts.notes.push_back("mlock: the system lets less memory be locked than the weights take");
  }
  facts.device = on_cpu() ? "CPU" : Describe(gpus_);
  const bool tiles = memory_.buffers.count("CPU_OI") > 0;  // as of experts in RAM
  if (kernels_ && (layers_on_cpu() || tiles)) {
    facts.kernels =
        kernels::Description() + (exact_matmuls() ? ", exact matmuls" : "") + without_kernels_;
  }
  facts.parameters = llama_model_n_params(model_);
  facts.weight_bytes = llama_model_size(model_);
  facts.vocabulary_size = llama_vocab_n_tokens(vocab_);
  facts.trained_context_tokens = llama_model_n_ctx_train(model_);
  facts.recurrent = llama_model_is_recurrent(model_);
  facts.hybrid = llama_model_is_hybrid(model_);
  facts.bos_token = TokenText(vocab_, llama_vocab_bos(vocab_));
  facts.eos_token = TokenText(vocab_, llama_vocab_eos(vocab_));
  if (const char* chat_template = llama_model_chat_template(model_, nullptr)) {
    facts.has_chat_template = true;
    facts.chat_template = chat_template;
  }
  const int32_t count = llama_model_meta_count(model_);
  for (int32_t i = 0; i < count; ++i) {
    std::array<char, 256> key{};
    if (llama_model_meta_key_by_index(model_, i, key.data(), key.size()) < 0) continue;
    const std::string name = key.data();
    // Templates are given on their own. (Arrays, as the token list, are not among these values.)
    if (name.rfind(kTemplateKey, 0) == 0) {
      const size_t length = std::strlen(kTemplateKey) + 1;
      if (name.size() > length) facts.chat_templates.emplace_back(name.substr(length), Meta(name));
      continue;
    }
    facts.metadata.emplace_back(name, Meta(name));
  }
  if (!hidden_) return facts;
  // Whoever asks the model reads these keys, wherever they come from.
  for (auto& [key, value] : hidden_->Keys()) {
    const auto given = std::find_if(facts.metadata.begin(), facts.metadata.end(),
                                    [&](const auto& entry) { return entry.first == key; });
    if (given == facts.metadata.end()) facts.metadata.emplace_back(key, value);
  }
  return facts;
}

}  // namespace oi
