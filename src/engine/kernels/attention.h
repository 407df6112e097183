// Softmax attention of every row and query head over the positions up to its own, or the newest of
// them.
//
// Group 0: 0 queries (read, turned already: rows of `pitch`, heads `q_stride` apart, each followed
// by its gate where `gated`), 1 RowPlace for each row (read), 2 keys (read), 3 values (read), 4 out
// (rows of heads * head_dim).
#pragma once

#include <cstdint>
#include <optional>

#include "engine/gpu/device.h"
#include "engine/kernels/kv_cache.h"

namespace weft::kernels {

// What scores are multiplied by, and how far back a row sees.
struct AttentionView {
  float scale = 0;           // 0: 1 / sqrt(head_dim).
  std::uint32_t window = 0;  // Positions that a row sees, its own included; 0: all up to its own.

  // Puts the constants SCALE and SEEN_BEFORE (positions before its own that a row sees, at most)
  // into a shader.
  void describe(ShaderText& text, std::uint32_t head_dim) const;
};

struct AttentionSpec {
  KvCacheSpec cache;
  std::uint32_t heads = 1;  // A multiple of cache.kv_heads.
  std::uint32_t q_stride = 0;
  std::uint32_t pitch = 0;
  bool gated = false;
  AttentionView view{};
  // For flash_attention.h: texts whose rows see all rows of their text. Keys and values stand in
  // the rows of the queries (f32), from these elements on; of the cache only the heads count. A
  // RowPlace has the text's first row as its slot, and segment_rows.
  struct WholeTexts {
    std::uint32_t k_offset = 0, v_offset = 0;  // Multiples of 4.
  };
  std::optional<WholeTexts> whole_texts{};
};
[[nodiscard]] gpu::PipelineOptions attention_pipeline(const AttentionSpec& spec);
[[nodiscard]] gpu::Workgroups attention_workgroups(const AttentionSpec& spec, std::uint32_t rows);

}  // namespace weft::kernels
