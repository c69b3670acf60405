// Evaluates an image's rows: llama_decode takes embeddings in batches of their own, without tokens.

#pragma once

#include <algorithm>
#include <vector>

#include "llama.h"
#include "vision.h"

namespace oi {

class ImageBatch {
 public:
  // An image of `sequence` whose first row is at `position`.
  ImageBatch(const Image& image, size_t position, llama_seq_id sequence, bool mrope)
      : sequence_(sequence),
        counts_(image.rows, 1),
        sequences_(image.rows, &sequence_),
        outputs_(image.rows, 0) {
    const auto first = static_cast<llama_pos>(position);
    const mtmd_image_tokens* rows = mtmd_input_chunk_get_tokens_image(image.chunk.get());
    positions_.reserve(mrope ? 4 * image.rows : image.rows);
    for (size_t i = 0; i < image.rows; ++i) {
      const mtmd_decoder_pos at = mtmd_image_tokens_get_decoder_pos(rows, first, i);
      if (mrope) {
        places_.push_back(at);
      } else {
        positions_.push_back(first + static_cast<llama_pos>(i));
      }
    }
  }

  ImageBatch(const ImageBatch&) = delete;
  ImageBatch& operator=(const ImageBatch&) = delete;

  // As llama_decode(), in as many calls as the rows take. `both_directions`: of one call.
  int32_t Decode(llama_context* context, const std::vector<float>& rows, size_t batch_tokens,
                 bool both_directions) {
    const size_t count = counts_.size();
    const size_t width = rows.size() / count;
    const Attention attention(context, !both_directions);
    int32_t status = 0;
    for (size_t begin = 0; begin < count && status == 0; begin += batch_tokens) {
      const size_t some = std::min(batch_tokens, count - begin);
      SetPositions(begin, some);
      llama_batch batch{};
      batch.n_tokens = static_cast<int32_t>(some);
      // llama.cpp does not write there; its batches have no other type.
      batch.embd = const_cast<float*>(rows.data()) + begin * width;
      batch.pos = places_.empty() ? positions_.data() + begin : positions_.data();
      batch.n_seq_id = counts_.data();
      batch.seq_id = sequences_.data();
      batch.logits = outputs_.data();
      status = llama_decode(context, batch);
    }
    return status;
  }

 private:
  // Sets the mask that the image needs; text's causal mask is set again however this ends.
  struct Attention {
    Attention(llama_context* context, bool causal) : context(context) {
      if (!causal) llama_set_causal_attn(context, false);
    }
    ~Attention() { llama_set_causal_attn(context, true); }
    llama_context* context;
  };

  // M-RoPE: all of a call's times, then its rows, its columns, and zeros.
  void SetPositions(size_t begin, size_t count) {
    if (places_.empty()) return;
    positions_.assign(4 * count, 0);
    for (size_t i = 0; i < count; ++i) {
      const mtmd_decoder_pos& at = places_[begin + i];
      positions_[i] = static_cast<llama_pos>(at.t);
      positions_[count + i] = static_cast<llama_pos>(at.y);
      positions_[2 * count + i] = static_cast<llama_pos>(at.x);
      positions_[3 * count + i] = static_cast<llama_pos>(at.z);
    }
  }

  llama_seq_id sequence_;
  std::vector<mtmd_decoder_pos> places_;  // with M-RoPE
  std::vector<llama_pos> positions_;
  std::vector<int32_t> counts_;
  std::vector<llama_seq_id*> sequences_;
  std::vector<int8_t> outputs_;
};

}  // namespace oi
