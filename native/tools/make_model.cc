// oi-make-model: writes a GGUF model of random weights. `npm run make-model` builds and
// runs it; scripts/make-model/ gives every option a value, so that the defaults are there.

#include <getopt.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <thread>

#include "architecture.h"
#include "encoder.h"
#include "model_writer.h"
#include "projector.h"
#include "shapes.h"

namespace {

constexpr char kUsage[] =
    "Usage: oi-make-model --list\n"
    "       oi-make-model NAME OUT --type TYPE --seed N --vocab-dir DIR\n"
    "                     [--vocab NAME] [--template NAME|FILE] [--decision TYPE]\n"
    "                     [--threads N]\n";

int Usage() {
  std::fputs(kUsage, stderr);
  return 2;
}

void List() {
  for (const oi::Shape& shape : oi::Shapes()) {
    std::printf("%-16s %-7s %2u layers of %4u, vocabulary %s\n", shape.name, shape.architecture,
                shape.layers, shape.width, shape.vocabulary);
  }
  for (const oi::Projector& projector : oi::Projectors()) {
    std::printf("%-16s clip    %2u layers of %4u, for models of %u\n", projector.name,
                projector.layers, projector.width, projector.model_width);
  }
  std::printf("\nTypes: %s\n", oi::TypeNames().c_str());
}

// False unless all of `text` is a number in decimal digits.
bool ParseNumber(const char* text, uint64_t* number) {
  char* end = nullptr;
  errno = 0;
  *number = std::strtoull(text, &end, 10);
  return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0;
}

// On stdout, so that stderr holds nothing but the error's one line.
void ShowProgress(std::string_view stage, double done) {
  if (!isatty(STDOUT_FILENO)) return;
  std::printf("\r%-10.*s %3.0f %%%s", static_cast<int>(stage.size()), stage.data(), 100 * done,
              done < 1 ? "" : "\n");
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const option options[] = {
      {"list", no_argument, nullptr, 'l'},
      {"type", required_argument, nullptr, 't'},
      {"seed", required_argument, nullptr, 's'},
      {"vocab-dir", required_argument, nullptr, 'd'},
      {"vocab", required_argument, nullptr, 'v'},
      {"template", required_argument, nullptr, 'c'},
      {"threads", required_argument, nullptr, 'j'},
      {"decision", required_argument, nullptr, 'e'},
      {nullptr, 0, nullptr, 0},
  };
  oi::ModelOptions model;
  uint64_t threads = std::max(1u, std::thread::hardware_concurrency());
  for (int option; (option = getopt_long(argc, argv, "", options, nullptr)) != -1;) {
    switch (option) {
      case 'l':
        List();
        return 0;
      case 't':
        model.type = optarg;
        break;
      case 's':
        if (!ParseNumber(optarg, &model.seed)) return Usage();
        break;
      case 'd':
        model.vocabulary_directory = optarg;
        break;
      case 'v':
        model.vocabulary = optarg;
        break;
      case 'c':
        model.chat_template = optarg;
        break;
      case 'e':
        model.decision = optarg;
        break;
      case 'j':
        if (!ParseNumber(optarg, &threads) || threads < 1 || threads > 256) return Usage();
        break;
      default:
        return Usage();
    }
  }
  if (argc - optind != 2 || model.type.empty() || model.vocabulary_directory.empty()) {
    return Usage();
  }

  try {
    for (const oi::Projector& projector : oi::Projectors()) {
      if (std::string_view(argv[optind]) != projector.name) continue;
      model.path = argv[optind + 1];
      model.threads = static_cast<int>(threads);
      oi::WriteProjector(projector, model, ShowProgress);
      return 0;
    }
    const oi::Shape& shape = oi::FindShape(argv[optind]);
    const bool llama = std::string_view(shape.architecture) == "llama";
    const char* chat_template = oi::IsEncoder(shape) ? "none" : llama ? "llama3" : "chatml";
    model.path = argv[optind + 1];
    model.threads = static_cast<int>(threads);
    if (model.vocabulary.empty()) model.vocabulary = shape.vocabulary;
    if (model.chat_template.empty()) model.chat_template = chat_template;
    oi::WriteModel(shape, model, ShowProgress);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
