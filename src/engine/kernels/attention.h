// Softmax attention of every row and query head over the positions up to the row's own, or over the
// newest of them.
//
// Bindings of group 0: 0 queries (read; rotated already, in rows of `pitch`, heads `q_stride`
// apart, each followed by its gate if `gated`), 1 RowPlace for each row (read), 2 keys (read), 3
// values (read), 4 out (rows of heads * head_dim).
#pragma once

#include <cstdint>
#include <optional>

#include "engine/gpu/device.h"
#include "engine/kernels/kv_cache.h"

namespace weft::kernels {

// The factor of the scores, and the number of positions that a row sees.
struct AttentionView {
  float scale = 0;  // 0 stands for 1 / sqrt(head_dim).
  // The number of positions that a row sees, its own position included; 0: all positions up to its
  // own.
  std::uint32_t window = 0;

  // Adds the constants SCALE and SEEN_BEFORE to a shader. SEEN_BEFORE is the most positions before
  // its own that a row sees.
  void describe(ShaderText& text, std::uint32_t head_dim) const;
};

struct AttentionSpec {
  KvCacheSpec cache;
  std::uint32_t heads = 1;  // Must be a multiple of cache.kv_heads.
  std::uint32_t q_stride = 0;
  std::uint32_t pitch = 0;
  bool gated = false;
  AttentionView view{};
  // The rows of whole texts, in which each row sees all rows of its text; for flash_attention.h.
  // Keys and values are in the rows of the queries (f32), at these offsets; only the heads of the
  // cache's description are used. A RowPlace has the text's first row as its slot, and the text's
  // number of rows as segment_rows.
  struct WholeTexts {
    std::uint32_t k_offset = 0, v_offset = 0;  // Offsets of keys and values, multiples of 4.
  };
  std::optional<WholeTexts> whole_texts{};
};
[[nodiscard]] gpu::PipelineOptions attention_pipeline(const AttentionSpec& spec);
[[nodiscard]] gpu::Workgroups attention_workgroups(const AttentionSpec& spec, std::uint32_t rows);

}  // namespace weft::kernels
