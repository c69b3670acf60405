// The codebooks of ggml's IQ formats: vectors of 8 bytes each, of IQ3 of 4.

#pragma once

namespace oi::kernels {

extern const void* const kIQ1Book;  // bytes are -1, 0 and 1
extern const void* const kIQ2_XXSBook;
extern const void* const kIQ2_XSBook;
extern const void* const kIQ2_SBook;
extern const void* const kIQ3_XXSBook;
extern const void* const kIQ3_SBook;

}  // namespace oi::kernels
