// Attention of the newest rows, in two dispatches or one, gives the values of the kernels of
// rotary.h and attention.h, and writes the same cache as they do.
#include "engine/kernels/decode/decode_attention.h"

#include <cmath>

#include "common/base/format.h"
#include "engine/kernels/attention.h"
#include "engine/kernels/test_device.h"

namespace weft::kernels {
namespace {

struct Shape {
  KvCacheFormat format;
  std::uint32_t heads, kv_heads, head_dim, pairs;
  bool halves, norm, gated;
  std::uint32_t window = 0;
};

class DecodeAttentionTest : public test::KernelTest, public testing::WithParamInterface<Shape> {};

TEST_P(DecodeAttentionTest, SaysWhatTheKernelsForAnyRowsSay) {
  const Shape& shape = GetParam();
  constexpr std::uint32_t context = 300, slots = 3;
  const std::vector<RowPlace> places = {
      {.slot = 2, .position = 0}, {.slot = 0, .position = 129}, {.slot = 1, .position = 299}};
  const auto rows = static_cast<std::uint32_t>(places.size());
  const std::uint32_t dim = shape.head_dim, q_stride = dim * (shape.gated ? 2 : 1),
                      q_rows = shape.heads * q_stride,
                      pitch = q_rows + 2 * shape.kv_heads * dim + 4;
  const RotarySpec rotary{.cache = {.format = shape.format,
                                    .slots = slots,
                                    .kv_heads = shape.kv_heads,
                                    .context = context,
                                    .head_dim = dim},
                          .heads = shape.heads,
                          .q_stride = q_stride,
                          .pitch = pitch,
                          .k_offset = q_rows,
                          .v_offset = q_rows + shape.kv_heads * dim,
                          .pairs = shape.pairs,
                          .halves = shape.halves,
                          .norm = shape.norm,
                          .epsilon = 1e-6f};
  const std::vector<float> qkv = test::random_floats(std::size_t{rows} * pitch, 3);
  std::vector<float> turns;
  for (std::uint32_t i = 0; i < context * shape.pairs; ++i) {
    turns.push_back(std::cos(static_cast<float>(i)));
    turns.push_back(std::sin(static_cast<float>(i)));
  }
  const std::vector<float> q_norm = test::random_floats(dim, 4),
                           k_norm = test::random_floats(dim, 5);
  std::vector<float> norms = q_norm;
  norms.insert(norms.end(), k_norm.begin(), k_norm.end());
  // Fills a cache with earlier rows, with the kernel of rotary.h.
  std::vector<RowPlace> earlier;
  for (const RowPlace& place : places)
    for (std::uint32_t p = 0; p < place.position; ++p)
      earlier.push_back({.slot = place.slot, .position = p});
  const gpu::Buffer earlier_qkv = upload(test::random_floats(earlier.size() * pitch, 6)),
                    earlier_places = upload(earlier), places_buffer = upload(places),
                    turns_buffer = upload(turns), q_norm_buffer = upload(q_norm),
                    k_norm_buffer = upload(k_norm), norms_buffer = upload(norms);
  const gpu::Pipeline turning = compile(rotary_pipeline(rotary));
  const auto filled = [&] {
    std::vector<gpu::Buffer> cache;
    for (int i = 0; i < 2; ++i)
      cache.push_back(upload(std::vector<std::uint8_t>(rotary.cache.bytes())));
    const gpu::BindGroup group = device().create_bind_group(turning, 0,
                                                            {{0, earlier_qkv},
                                                             {1, earlier_places},
                                                             {2, turns_buffer},
                                                             {3, q_norm_buffer},
                                                             {4, k_norm_buffer},
                                                             {5, cache[0]},
                                                             {6, cache[1]}});
    run(turning, {&group}, rotary_workgroups(rotary, static_cast<std::uint32_t>(earlier.size())));
    return cache;
  };

  // Computes the expected values with the kernel of rotary.h and then that of attention.h.
  const std::uint32_t width = shape.heads * dim;
  std::vector<gpu::Buffer> expected_cache = filled();
  const gpu::Buffer turned = upload(qkv),
                    out = upload(std::vector<float>(std::size_t{rows} * width));
  const gpu::BindGroup turn_group = device().create_bind_group(turning, 0,
                                                               {{0, turned},
                                                                {1, places_buffer},
                                                                {2, turns_buffer},
                                                                {3, q_norm_buffer},
                                                                {4, k_norm_buffer},
                                                                {5, expected_cache[0]},
                                                                {6, expected_cache[1]}});
  run(turning, {&turn_group}, rotary_workgroups(rotary, rows));
  const AttentionSpec plain{.cache = rotary.cache,
                            .heads = shape.heads,
                            .q_stride = q_stride,
                            .pitch = pitch,
                            .gated = shape.gated,
                            .view = {.window = shape.window}};
  const gpu::Pipeline attending = compile(attention_pipeline(plain));
  const gpu::BindGroup attend_group = device().create_bind_group(
      attending, 0,
      {{0, turned}, {1, places_buffer}, {2, expected_cache[0]}, {3, expected_cache[1]}, {4, out}});
  run(attending, {&attend_group}, attention_workgroups(plain, rows));
  const auto expected = download<float>(out, std::size_t{rows} * width);

  const gpu::Buffer fresh = upload(qkv);
  for (const bool subgroups : {true, false}) {
    const Team team = Team::of(device(), subgroups);
    enum class Way { whole, shared, by_teams };
    for (const Way way : {Way::whole, Way::shared, Way::by_teams}) {
      const bool whole = way == Way::whole;
      const DecodeAttentionSpec spec{.rotary = rotary,
                                     .gated = shape.gated,
                                     .view = plain.view,
                                     .splits = 5,
                                     .share_min = 32,
                                     .by_teams = way == Way::by_teams};
      if (whole ? !whole_attention_possible(device(), spec, team, 128)
                : !decode_attention_possible(device(), spec, team, 128))
        continue;
      const std::string what = weft::format("{}, {}",
                                            whole           ? "whole"
                                            : spec.by_teams ? "by teams"
                                                            : "shared",
                                            subgroups ? "subgroups" : "workgroups");
      std::vector<gpu::Buffer> cache = filled();
      const gpu::Buffer quants = upload(std::vector<std::uint32_t>(std::size_t{rows} * width / 4)),
                        scales = upload(std::vector<float>(std::size_t{rows} * width / 8));
      if (whole) {
        const gpu::Pipeline pipeline = compile(whole_attention_pipeline(spec, team, 128));
        const gpu::BindGroup group = device().create_bind_group(pipeline, 0,
                                                                {{0, fresh},
                                                                 {1, places_buffer},
                                                                 {2, turns_buffer},
                                                                 {3, norms_buffer},
                                                                 {4, cache[0]},
                                                                 {5, cache[1]},
                                                                 {6, quants},
                                                                 {7, scales}});
        run(pipeline, {&group}, whole_attention_workgroups(spec, rows));
      } else {
        const gpu::Buffer shares = upload(std::vector<float>(decode_shares_bytes(spec, rows) / 4));
        const gpu::Pipeline pipeline = compile(decode_attention_pipeline(spec, team, 128)),
                            merging = compile(merge_shares_pipeline(spec));
        const gpu::BindGroup group = device().create_bind_group(pipeline, 0,
                                                                {{0, fresh},
                                                                 {1, places_buffer},
                                                                 {2, turns_buffer},
                                                                 {3, norms_buffer},
                                                                 {4, cache[0]},
                                                                 {5, cache[1]},
                                                                 {6, shares}});
        const gpu::BindGroup merge_group = device().create_bind_group(
            merging, 0, {{0, shares}, {1, fresh}, {2, quants}, {3, scales}, {4, places_buffer}});
        // Fewer workgroups, which compute several shares each, give the same bits.
        gpu::Workgroups workgroups = decode_attention_workgroups(spec, team, 128, rows);
        EXPECT_EQ(decode_attention_workgroups(spec, team, 128, 100'000).y, 1u) << "many rows";
        EXPECT_LE(decode_attention_workgroups(spec, team, 128, rows, 33).y, 3u)
            << "two shares of 32 positions, and the row itself";
        std::vector<std::vector<std::uint32_t>> left;
        for (const std::uint32_t y : {1u, 2u, workgroups.y}) {
          workgroups.y = y;
          run(pipeline, {&group}, workgroups);
          run(merging, {&merge_group}, merge_shares_workgroups(spec, rows));
          left.push_back(download<std::uint32_t>(quants, std::size_t{rows} * width / 4));
          const auto more = download<std::uint32_t>(scales, std::size_t{rows} * width / 8);
          left.back().insert(left.back().end(), more.begin(), more.end());
          EXPECT_EQ(left.back(), left.front()) << what << ", " << y << " workgroups a head";
        }
      }

      const auto bytes = download<std::int8_t>(quants, std::size_t{rows} * width);
      const auto lanes = download<float>(scales, std::size_t{rows} * width / 8);
      // The expected values are computed with the row's own key and value as rounded by the cache's
      // format.
      const double cache_error = shape.format == KvCacheFormat::q8_0  ? 0.05
                                 : shape.format == KvCacheFormat::f16 ? 4e-3
                                                                      : 2e-5;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        const float scale = lanes[i / 16 * 2];
        ASSERT_NEAR(bytes[i] * scale, expected[i], 0.51 * scale + cache_error)
            << what << " at " << i;
      }
      for (std::size_t side = 0; side < 2; ++side) {
        const auto got = download<std::uint8_t>(cache[side], rotary.cache.bytes());
        const auto wanted = download<std::uint8_t>(expected_cache[side], rotary.cache.bytes());
        std::size_t different = 0;
        for (std::size_t i = 0; i < got.size(); ++i) different += got[i] == wanted[i] ? 0 : 1;
        // The norms' sums are added in another order, so that the last bits of the newest keys may
        // differ.
        EXPECT_LE(different, shape.norm ? rows * shape.kv_heads * dim * 4 : 0)
            << what << (side == 0 ? " keys" : " values");
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, DecodeAttentionTest,
    testing::Values(Shape{KvCacheFormat::f16, 8, 2, 64, 32, false, false, false},
                    Shape{KvCacheFormat::f32, 7, 1, 64, 32, true, false, false},
                    Shape{KvCacheFormat::q8_0, 4, 4, 32, 16, true, false, false},
                    Shape{KvCacheFormat::f16, 4, 2, 128, 16, true, true, true},
                    Shape{KvCacheFormat::f16, 2, 1, 256, 32, true, true, true},
                    Shape{KvCacheFormat::f16, 4, 1, 64, 32, true, true, false, 1},
                    Shape{KvCacheFormat::f32, 4, 2, 32, 16, true, true, false, 20},
                    Shape{KvCacheFormat::f16, 8, 2, 64, 32, false, false, false, 200}),
    [](const auto& row) {
      return weft::format("dim{}_group{}_{}", row.param.head_dim,
                          row.param.heads / row.param.kv_heads, row.index);
    });

}  // namespace
}  // namespace weft::kernels
