// Attention over a cache gives the reference's values for one position, odd numbers of positions,
// and one more than a chunk; for several heads to a key head, gates, windows, and every cache
// format.
#include "engine/kernels/attention.h"

#include <cmath>

#include "engine/kernels/reference/activation.h"
#include "engine/kernels/reference/attention.h"
#include "engine/kernels/test_cache.h"
#include "engine/kernels/test_device.h"

namespace weft::kernels {
namespace {

using test::Cache;
using test::random_cache;

struct AttentionCase {
  KvCacheFormat format;
  std::uint32_t heads, kv_heads, head_dim;
  bool gated;
  std::uint32_t window = 0;
};

// The number of positions before a row that its window leaves out.
std::size_t unseen(std::uint32_t window, std::uint32_t position) {
  return window == 0 || position < window ? 0 : position + 1 - window;
}

class AttentionTest : public test::KernelTest, public testing::WithParamInterface<AttentionCase> {};

TEST_P(AttentionTest, EqualsTheReference) {
  const AttentionCase& one = GetParam();
  const std::uint32_t dim = one.head_dim, q_stride = dim * (one.gated ? 2 : 1),
                      pitch = one.heads * q_stride + 8;
  const AttentionSpec spec{.cache = {.format = one.format,
                                     .slots = 2,
                                     .kv_heads = one.kv_heads,
                                     .context = 300,
                                     .head_dim = dim},
                           .heads = one.heads,
                           .q_stride = q_stride,
                           .pitch = pitch,
                           .gated = one.gated,
                           .view = {.window = one.window}};
  const std::vector<RowPlace> places = {{.slot = 0, .position = 0},
                                        {.slot = 1, .position = 63},
                                        {.slot = 1, .position = 64},
                                        {.slot = 0, .position = 299}};
  const std::vector<float> queries = test::random_floats(places.size() * pitch, 5);
  const Cache keys = random_cache(spec.cache, 6), values = random_cache(spec.cache, 7);
  const gpu::Buffer queries_buffer = upload(queries), places_buffer = upload(places),
                    keys_buffer = upload(keys.bytes), values_buffer = upload(values.bytes);
  const gpu::Buffer out = upload(std::vector<float>(places.size() * one.heads * dim));
  const gpu::Pipeline pipeline = compile(attention_pipeline(spec));
  const gpu::BindGroup group = device().create_bind_group(
      pipeline, 0,
      {{0, queries_buffer}, {1, places_buffer}, {2, keys_buffer}, {3, values_buffer}, {4, out}});

  run(pipeline, {&group}, attention_workgroups(spec, static_cast<std::uint32_t>(places.size())));

  std::vector<float> expected(places.size() * one.heads * dim), scores(300);
  for (std::size_t row = 0; row < places.size(); ++row) {
    for (std::size_t h = 0; h < one.heads; ++h) {
      const std::size_t base = (std::size_t{places[row].slot} * one.kv_heads +
                                h / (one.heads / one.kv_heads)) *
                                   300 * dim +
                               unseen(one.window, places[row].position) * dim,
                        positions =
                            places[row].position + 1 - unseen(one.window, places[row].position);
      const std::span<float> head = std::span(expected).subspan((row * one.heads + h) * dim, dim);
      const std::span<const float> query =
          std::span(queries).subspan(row * pitch + h * q_stride, dim);
      reference::attention(query, {keys.values.data() + base, dim, positions},
                           {values.values.data() + base, dim, positions},
                           1 / std::sqrt(static_cast<float>(dim)), scores, head);
      if (one.gated) {
        for (std::size_t i = 0; i < dim; ++i) head[i] *= reference::sigmoid(query.data()[dim + i]);
      }
    }
  }
  // The error bound: scores of size up to 4 are sums of `dim` products, with an error of about dim
  // / 4 * 2^-24 * 4. exp() turns this error, and a few units in the last place of its own, into a
  // relative error of the weights; values are about 1.
  test::expect_close(download<float>(out, expected.size()), expected,
                     4e-6f + static_cast<float>(dim) * 0x1p-23f, 0, "attention");
}

INSTANTIATE_TEST_SUITE_P(Shapes, AttentionTest,
                         testing::Values(AttentionCase{KvCacheFormat::f32, 4, 2, 64, false},
                                         AttentionCase{KvCacheFormat::f16, 14, 2, 64, false},
                                         AttentionCase{KvCacheFormat::q8_0, 4, 1, 128, true},
                                         AttentionCase{KvCacheFormat::f32, 8, 4, 8, false},
                                         AttentionCase{KvCacheFormat::f16, 2, 1, 256, true},
                                         AttentionCase{KvCacheFormat::f32, 3, 3, 80, false},
                                         AttentionCase{KvCacheFormat::f16, 1, 1, 512, false},
                                         AttentionCase{KvCacheFormat::f32, 4, 2, 32, false, 1},
                                         AttentionCase{KvCacheFormat::f16, 4, 1, 64, false, 65}));

}  // namespace
}  // namespace weft::kernels
