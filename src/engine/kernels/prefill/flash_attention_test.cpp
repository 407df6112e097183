// Attention of many rows equals the reference row by row: for segments of several slots in one
// pass, for one row and one more than a tile, after positions that are already in the cache, for
// every cache format, in windows, with subgroup matrices and without.
#include "engine/kernels/prefill/flash_attention.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "common/base/format.h"
#include "common/base/long_tests.h"
#include "engine/kernels/reference/activation.h"
#include "engine/kernels/reference/attention.h"
#include "engine/kernels/reference/dot.h"
#include "engine/kernels/test_cache.h"
#include "engine/kernels/test_device.h"

namespace weft::kernels {
namespace {

struct FlashCase {
  KvCacheFormat format;
  std::uint32_t heads, kv_heads, head_dim;
  bool gated;
  // The size of queries. Large ones make the softmax choose few positions, some of them late.
  float size;
  std::uint32_t window = 0;
  bool every_tile = false;
};

class FlashAttentionTest : public test::KernelTest,
                           public testing::WithParamInterface<FlashCase> {};

TEST_P(FlashAttentionTest, EqualsTheReference) {
  const FlashCase& one = GetParam();
  constexpr std::uint32_t context = 200;
  const std::uint32_t dim = one.head_dim, q_stride = dim * (one.gated ? 2 : 1),
                      pitch = one.heads * q_stride + 8;
  const AttentionSpec spec{.cache = {.format = one.format,
                                     .slots = 3,
                                     .kv_heads = one.kv_heads,
                                     .context = context,
                                     .head_dim = dim},
                           .heads = one.heads,
                           .q_stride = q_stride,
                           .pitch = pitch,
                           .gated = one.gated,
                           .view = {.window = one.window}};
  const std::vector<Segment> segments = {{.slot = 1, .first_row = 0, .rows = 65},
                                         {.slot = 0, .first_row = 65, .rows = 1},
                                         {.slot = 2, .first_row = 66, .rows = 17}};
  const std::vector<std::uint32_t> starts = {0, 199, 43};
  std::vector<RowPlace> places;
  for (std::size_t s = 0; s < segments.size(); ++s)
    for (std::uint32_t i = 0; i < segments[s].rows; ++i)
      places.push_back({.slot = segments[s].slot, .position = starts[s] + i, .run = i});
  const std::vector<float> queries = test::random_floats(places.size() * pitch, 5, one.size);
  const test::Cache keys = test::random_cache(spec.cache, 6),
                    values = test::random_cache(spec.cache, 7);
  const gpu::Buffer queries_buffer = upload(queries), places_buffer = upload(places),
                    keys_buffer = upload(keys.bytes), values_buffer = upload(values.bytes);
  std::vector<FlashTuning> tunings = {flash_tuning(device(), spec, true),
                                      flash_tuning(device(), spec)};
  if (one.format == KvCacheFormat::f32) {
    // The tunings of devices with less workgroup memory. Because each of them is compiled
    // separately, the quick run tests all of them only for shapes with every_tile, and one of them
    // for each other shape.
    std::uint32_t at = 0;
    for (const auto& [tile_rows, tile_positions, row_threads] :
         {std::array{16u, 8u, 8u}, {4u, 8u, 8u}, {4u, 4u, 4u}, {1u, 2u, 2u}}) {
      if (!weft::test::long_tests() && !one.every_tile && at++ != (dim / 16 + one.window) % 4)
        continue;
      tunings.push_back(
          {.tile_rows = tile_rows, .tile_positions = tile_positions, .row_threads = row_threads});
    }
  }
  // The expected values of a row's heads, for every tuning.
  struct Head {
    std::vector<float> expected{};  // The outputs [head_dim] after the gate.
    float magnitudes = 0;           // The largest sum of the magnitudes of a score's products.
    // [head_dim]: sums of the magnitudes of values, with their weights.
    std::vector<float> value_tops{};
  };
  std::vector<float> value_sizes = values.values;
  for (float& value : value_sizes) value = std::abs(value);
  std::vector<Head> heads;
  for (std::size_t row = 0; row < places.size(); ++row) {
    for (std::size_t h = 0; h < one.heads; ++h) {
      const float scale = 1 / std::sqrt(static_cast<float>(dim));
      const std::size_t end = places[row].position + 1,
                        positions = one.window == 0 ? end : std::min<std::size_t>(end, one.window);
      const std::size_t base =
          (std::size_t{places[row].slot} * one.kv_heads + h / (one.heads / one.kv_heads)) *
              context * dim +
          (end - positions) * dim;
      const std::span<const float> query =
          std::span(queries).subspan(row * pitch + h * q_stride, dim);
      Head head{.expected = std::vector<float>(dim), .value_tops = std::vector<float>(dim)};
      std::vector<float> scores(context);
      reference::attention(query, {keys.values.data() + base, dim, positions},
                           {values.values.data() + base, dim, positions}, scale, scores,
                           head.expected);
      for (std::size_t p = 0; p < positions; ++p) {
        const auto at = [&](const std::vector<float>& of) {
          return std::span(of).subspan(base + p * dim, dim);
        };
        const double magnitudes = reference::exact_sum(query, at(keys.values)).magnitudes;
        head.magnitudes = std::max(head.magnitudes, static_cast<float>(magnitudes) * scale);
        reference::add_scaled(head.value_tops, at(value_sizes), scores[p]);
      }
      if (one.gated) {
        for (std::size_t i = 0; i < dim; ++i)
          head.expected[i] *= reference::sigmoid(query.data()[dim + i]);
      }
      heads.push_back(std::move(head));
    }
  }
  for (const FlashTuning& tuning : tunings) {
    SCOPED_TRACE(weft::format("tile of {} rows, {} positions, matrix {}", tuning.tile_rows,
                              tuning.tile_positions, tuning.matrix_m));
    const std::vector<AttentionTile> tiles = attention_tiles(segments, tuning);
    const gpu::Buffer out = upload(std::vector<float>((places.size() + 1) * one.heads * dim, 7)),
                      tiles_buffer = upload(tiles);
    const gpu::Pipeline pipeline = compile(flash_attention_pipeline(spec, tuning));
    const gpu::BindGroup group = device().create_bind_group(pipeline, 0,
                                                            {{0, queries_buffer},
                                                             {1, places_buffer},
                                                             {2, keys_buffer},
                                                             {3, values_buffer},
                                                             {4, out},
                                                             {5, tiles_buffer}});

    run(pipeline, {&group},
        flash_attention_workgroups(spec, static_cast<std::uint32_t>(tiles.size())));

    const auto got = download<float>(out, (places.size() + 1) * one.heads * dim);
    for (std::size_t row = 0; row < places.size(); ++row) {
      for (std::size_t h = 0; h < one.heads; ++h) {
        // The error bound. A score's error is a share of its magnitudes: dim / 4 additions of 2^-24
        // each, and in f16 2^-11 for either factor. Weights have twice that as their relative error
        // (once in the sum), and the (3 + 2|x|) units of exp(); in f16 another 2^-11 for the weight
        // and 2^-11 for the value. The errors are weighted by the magnitudes of the values.
        const Head& head = heads[row * one.heads + h];
        const float magnitudes = head.magnitudes;
        const float unit = tuning.matrix_m != 0 ? 0x1p-10f : 0;
        const float score_error = magnitudes * (static_cast<float>(dim) / 4 * 0x1p-24f + unit);
        const float relative = std::expm1(2 * score_error) + unit + (8 + 4 * magnitudes) * 0x1p-23f;
        for (std::size_t i = 0; i < dim; ++i) {
          ASSERT_NEAR(got[(row * one.heads + h) * dim + i], head.expected[i],
                      relative * head.value_tops[i] + 2e-6f)
              << "row " << row << " head " << h << " element " << i;
        }
      }
    }
    for (std::size_t i = places.size() * one.heads * dim; i < got.size(); ++i)
      ASSERT_EQ(got[i], 7) << "beyond the rows";
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, FlashAttentionTest,
                         testing::Values(FlashCase{KvCacheFormat::f32, 4, 2, 64, false, 1, 0, true},
                                         FlashCase{KvCacheFormat::f16, 7, 1, 64, false, 8},
                                         FlashCase{KvCacheFormat::q8_0, 4, 1, 128, true, 1},
                                         FlashCase{KvCacheFormat::f32, 4, 4, 8, false, 1},
                                         FlashCase{KvCacheFormat::f16, 2, 1, 256, true, 2},
                                         FlashCase{KvCacheFormat::f32, 3, 3, 80, false, 4},
                                         FlashCase{KvCacheFormat::f16, 1, 1, 512, false, 1},
                                         FlashCase{KvCacheFormat::f32, 4, 2, 32, false, 4, 1},
                                         FlashCase{KvCacheFormat::f32, 4, 2, 64, false, 8, 7},
                                         FlashCase{KvCacheFormat::f16, 2, 1, 64, false, 1, 50}));

}  // namespace
}  // namespace weft::kernels
