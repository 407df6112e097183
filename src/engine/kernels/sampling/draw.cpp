#include "engine/kernels/sampling/draw.h"

#include <bit>

#include "common/base/check.h"
#include "engine/kernels/sampling/draw_best.wgsl.h"
#include "engine/kernels/sampling/draw_common.wgsl.h"
#include "engine/kernels/sampling/draw_count.wgsl.h"
#include "engine/kernels/sampling/draw_pick.wgsl.h"
#include "engine/kernels/sampling/draw_restrict.wgsl.h"
#include "engine/kernels/sampling/draw_tiles.wgsl.h"
#include "engine/kernels/sampling/gumbel.wgsl.h"
#include "engine/kernels/shader.h"

namespace weft::kernels {
namespace {

// The threads of a workgroup: the lowest limit that WebGPU allows.
constexpr std::uint32_t tile_threads = 256;
constexpr std::uint32_t tile_each = draw_tile / tile_threads;  // The number of tokens of a thread.
constexpr std::uint32_t group_tokens = 8 * tile_each;          // The number of tokens of 8 threads.
constexpr std::uint32_t groups_each = draw_tile / group_tokens;  // The number of groups in a tile.

gpu::PipelineOptions pipeline(const DrawSpec& spec, ShaderText& text, std::string_view label,
                              std::uint32_t threads) {
  const DrawLayout layout(spec);
  check(spec.vocabulary > 0 && spec.vocabulary <= draw_vocabulary_max,
        "a vocabulary fits into the sums of a draw");
  check(std::has_single_bit(spec.steps), "a ring of results has a power of two of steps");
  check(layout.words < std::uint64_t{1} << 32, "words of scratch memory are numbered by 32 bits");
  text.constant("WORKGROUP", threads)
      .constant("VOCABULARY", spec.vocabulary)
      .constant("ROWS", spec.rows)
      .constant("STEPS", spec.steps)
      .constant("RING", draw_history)
      .constant("SLOT_WORDS", draw_slot_words(spec.vocabulary))
      .constant("TILE", draw_tile)
      .constant("TILE_STRIDE", tile_threads)
      .constant("EACH", tile_each)
      .constant("GROUP", group_tokens)
      .constant("GROUPS_EACH", groups_each)
      .constant("TILES", layout.tiles)
      .constant("GROUPS", layout.groups)
      .constant("BESTS", static_cast<std::uint32_t>(layout.bests))
      .constant("HIGHS", static_cast<std::uint32_t>(layout.highs))
      .constant("HOT", static_cast<std::uint32_t>(layout.hot))
      .constant("COUNTS", static_cast<std::uint32_t>(layout.counts))
      .constant("LIST", static_cast<std::uint32_t>(layout.list));
  gpu::PipelineOptions options;
  options.wgsl = text.build();
  options.label = label;
  using enum gpu::BindingKind;
  options.groups = {{{0, storage_read},
                     {1, storage_read},
                     {2, storage},
                     {3, storage},
                     {4, storage},
                     {5, storage},
                     {6, storage},
                     {7, storage}}};
  return options;
}

}  // namespace

DrawLayout::DrawLayout(const DrawSpec& spec) {
  const std::uint64_t rows = spec.rows;
  tiles = (spec.vocabulary + draw_tile - 1) / draw_tile;
  groups = tiles * groups_each;
  highs = bests + rows * tiles * 5;
  hot = highs + rows * groups;
  counts = hot + rows * groups;
  list = counts + rows * spec.vocabulary;
  words = list + rows * spec.vocabulary * 2;
}

gpu::PipelineOptions draw_count_pipeline(const DrawSpec& spec) {
  ShaderText text;
  text.part("alias SCRATCH = atomic<u32>;")
      .part(wgsl::draw_common_wgsl)
      .part(wgsl::draw_count_wgsl);
  return pipeline(spec, text, "draw_count", 64);
}

gpu::PipelineOptions draw_tiles_pipeline(const DrawSpec& spec) {
  ShaderText text;
  text.part("alias SCRATCH = u32;")
      .part(wgsl::draw_common_wgsl)
      .part(wgsl::draw_best_wgsl)
      .part(wgsl::gumbel_wgsl)
      .part(wgsl::draw_tiles_wgsl);
  return pipeline(spec, text, "draw_tiles", tile_threads);
}

gpu::PipelineOptions draw_pick_pipeline(const DrawSpec& spec, bool restricted,
                                        std::uint32_t threads) {
  ShaderText text;
  text.part("alias SCRATCH = u32;")
      .part(wgsl::draw_common_wgsl)
      .part(wgsl::draw_best_wgsl)
      .part(wgsl::gumbel_wgsl);
  if (restricted) text.part(wgsl::draw_restrict_wgsl);
  // The unrestricted shader gets a function that is never called, because WGSL has no conditional
  // text.
  if (!restricted)
    text.part(
        "fn draw_restricted(row: u32, how: Settings, position: u32, top: f32, mass: f32, index: "
        "u32) -> u32 { return NONE; }");
  text.flag("RESTRICT", restricted).part(wgsl::draw_pick_wgsl);
  return pipeline(spec, text, restricted ? "draw_pick_restricted" : "draw_pick", threads);
}

}  // namespace weft::kernels
