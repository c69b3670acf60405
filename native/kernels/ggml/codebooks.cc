#include "../codebooks.h"

#define GGML_COMMON_IMPL_CPP
#include "ggml-common.h"

namespace oi::kernels {

const void* const kIQ1Book = iq1s_grid;
const void* const kIQ2_XXSBook = iq2xxs_grid;
const void* const kIQ2_XSBook = iq2xs_grid;
const void* const kIQ2_SBook = iq2s_grid;
const void* const kIQ3_XXSBook = iq3xxs_grid;
const void* const kIQ3_SBook = iq3s_grid;

}  // namespace oi::kernels
