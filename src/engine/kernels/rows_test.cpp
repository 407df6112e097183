// Kernels that process one row at a time give the values of plain C++: norms, gates, and the
// rotation with its writes to the cache.
#include <cmath>

#include "engine/gguf/half.h"
#include "engine/kernels/reference/activation.h"
#include "engine/kernels/reference/norm.h"
#include "engine/kernels/reference/rotate.h"
#include "engine/kernels/rms_norm.h"
#include "engine/kernels/rotary.h"
#include "engine/kernels/swiglu.h"
#include "engine/kernels/test_device.h"

namespace weft::kernels {
namespace {

using test::expect_close;
using test::random_floats;
class RowsTest : public test::KernelTest {};

TEST_F(RowsTest, AreNormedAsTheReferenceDoes) {
  for (const std::uint32_t columns : {4u, 64u, 172u, 896u, 2048u}) {
    for (const auto& [select, accumulate] :
         {std::pair{false, false}, {true, false}, {false, true}}) {
      const std::vector<float> x = random_floats(std::size_t{3} * columns, columns, 2),
                               weight = random_floats(columns, 2);
      const std::vector<std::uint32_t> selected = {2, 0};
      const std::uint32_t rows = select ? 2 : 3;
      const gpu::Pipeline pipeline = compile(rms_norm_pipeline(
          {.columns = columns, .epsilon = 1e-5f, .select = select, .accumulate = accumulate}));
      const gpu::Buffer out = upload(std::vector<float>(std::size_t{rows} * columns, 0.5f)),
                        x_buffer = upload(x), weight_buffer = upload(weight),
                        selection = upload(selected);
      const gpu::BindGroup group = device().create_bind_group(
          pipeline, 0, {{0, x_buffer}, {1, weight_buffer}, {2, out}, {3, selection}});

      run(pipeline, {&group}, rms_norm_workgroups(rows));

      std::vector<float> expected(std::size_t{rows} * columns);
      for (std::uint32_t row = 0; row < rows; ++row) {
        const std::size_t from = select ? selected[row] : row;
        reference::rms_norm(std::span(x).subspan(from * columns, columns), weight, 1e-5f,
                            std::span(expected).subspan(std::size_t{row} * columns, columns));
      }
      if (accumulate)
        for (float& value : expected) value += 0.5f;
      // The error bound of a sum of columns squares in 256 parts, one inverse square root (two
      // units in the last place by WGSL) and two products.
      expect_close(download<float>(out, expected.size()), expected, accumulate ? 16 * 0x1p-23f : 0,
                   16 * 0x1p-23f, std::to_string(columns) + " columns");
    }
  }
}

TEST_F(RowsTest, AreGatedAsTheReferenceDoes) {
  for (const auto& [width, activation] : {std::pair{4u, Activation::silu},
                                          {172u, Activation::silu},
                                          {260u, Activation::silu},
                                          {172u, Activation::gelu}}) {
    const std::vector<float> x = random_floats(std::size_t{3} * 2 * width, width, 4);
    const gpu::Pipeline pipeline =
        compile(swiglu_pipeline({.width = width, .activation = activation}));
    const gpu::Buffer out = upload(std::vector<float>(std::size_t{3} * width)),
                      x_buffer = upload(x), size = uniform({.rows = 3, .segments = 1});
    const gpu::BindGroup group =
        device().create_bind_group(pipeline, 0, {{0, x_buffer}, {1, out}, {2, size}});

    run(pipeline, {&group}, swiglu_workgroups({.width = width}, 3));

    std::vector<float> expected(std::size_t{3} * width);
    for (std::size_t row = 0; row < 3; ++row)
      reference::gate_up(activation, std::span(x).subspan(row * 2 * width, width),
                         std::span(x).subspan(row * 2 * width + width, width),
                         std::span(expected).subspan(row * width, width));
    // The error bound: exp() of x up to 16 has an error of (3 + 2|x|) units in the last place by
    // WGSL. GELU's argument goes up to 300, for which the result is below the absolute bound.
    expect_close(download<float>(out, expected.size()), expected,
                 activation == Activation::gelu ? 1e-6f : 1e-7f,
                 activation == Activation::gelu ? 160 * 0x1p-23f : 40 * 0x1p-23f,
                 std::to_string(width) + " wide");
  }
}

struct RotaryCase {
  KvCacheFormat format;
  std::uint32_t head_dim, pairs;
  bool halves, norm, gated;
};

class RotaryTest : public RowsTest, public testing::WithParamInterface<RotaryCase> {};

TEST_P(RotaryTest, TurnsAndStoresAsTheReferenceDoes) {
  const RotaryCase& one = GetParam();
  constexpr std::uint32_t heads = 4, kv_heads = 2, context = 40, rows = 3;
  const std::uint32_t dim = one.head_dim, q_stride = dim * (one.gated ? 2 : 1),
                      k_offset = heads * q_stride, v_offset = k_offset + kv_heads * dim,
                      pitch = v_offset + kv_heads * dim;
  const RotarySpec spec{.cache = {.format = one.format,
                                  .slots = 2,
                                  .kv_heads = kv_heads,
                                  .context = context,
                                  .head_dim = dim},
                        .heads = heads,
                        .q_stride = q_stride,
                        .pitch = pitch,
                        .k_offset = k_offset,
                        .v_offset = v_offset,
                        .pairs = one.pairs,
                        .halves = one.halves,
                        .norm = one.norm,
                        .epsilon = 1e-6f};
  const std::vector<float> qkv = random_floats(std::size_t{rows} * pitch, dim),
                           q_norm = random_floats(dim, 8), k_norm = random_floats(dim, 9);
  const std::vector<RowPlace> places = {
      {.slot = 1, .position = 39}, {.slot = 0, .position = 0}, {.slot = 1, .position = 7}};
  std::vector<double> frequencies;
  for (std::uint32_t p = 0; p < one.pairs; ++p)
    frequencies.push_back(std::pow(10000.0, -2.0 * p / (2 * one.pairs)));
  std::vector<float> turns;
  for (std::uint32_t position = 0; position < context; ++position) {
    for (const double frequency : frequencies) {
      turns.push_back(static_cast<float>(std::cos(position * frequency)));
      turns.push_back(static_cast<float>(std::sin(position * frequency)));
    }
  }
  const gpu::Buffer qkv_buffer = upload(qkv), places_buffer = upload(places),
                    turns_buffer = upload(turns), q_norm_buffer = upload(q_norm),
                    k_norm_buffer = upload(k_norm);
  const std::vector<std::uint8_t> empty(spec.cache.bytes());
  const gpu::Buffer keys = upload(empty), values = upload(empty);
  const gpu::Pipeline pipeline = compile(rotary_pipeline(spec));
  const gpu::BindGroup group = device().create_bind_group(pipeline, 0,
                                                          {{0, qkv_buffer},
                                                           {1, places_buffer},
                                                           {2, turns_buffer},
                                                           {3, q_norm_buffer},
                                                           {4, k_norm_buffer},
                                                           {5, keys},
                                                           {6, values}});

  run(pipeline, {&group}, rotary_workgroups(spec, rows));

  const auto got = download<float>(qkv_buffer, qkv.size());
  const auto got_keys = download<std::uint8_t>(keys, spec.cache.bytes()),
             got_values = download<std::uint8_t>(values, spec.cache.bytes());
  const auto element = [&](const std::vector<std::uint8_t>& cache, std::size_t at) -> float {
    if (one.format == KvCacheFormat::f32) return reinterpret_cast<const float*>(cache.data())[at];
    if (one.format == KvCacheFormat::f16)
      return gguf::half_to_float(reinterpret_cast<const std::uint16_t*>(cache.data())[at]);
    const float scale =
        reinterpret_cast<const float*>(cache.data() + spec.cache.elements())[at / 32];
    return scale * static_cast<float>(static_cast<std::int8_t>(cache[at]));
  };
  // The error bound of rounding in the cache: half a unit of 11 bits, or half a step of 1/127 of
  // the block's largest number (a little more if the division is not exact). The norm and two
  // products before the rounding add their own errors.
  const float relative = one.format == KvCacheFormat::f16 ? 0x1p-11f * 1.01f : 0;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t h = 0; h < heads + 2 * kv_heads; ++h) {
      const bool is_query = h < heads, is_value = h >= heads + kv_heads;
      const std::size_t kv_head = is_query ? 0 : (h - heads) % kv_heads;
      const std::size_t from =
          row * pitch +
          (is_query ? h * q_stride : (is_value ? v_offset : k_offset) + kv_head * dim);
      std::vector<float> head(qkv.begin() + static_cast<std::ptrdiff_t>(from),
                              qkv.begin() + static_cast<std::ptrdiff_t>(from + dim));
      if (!is_value) {
        if (one.norm) reference::rms_norm(head, is_query ? q_norm : k_norm, spec.epsilon, head);
        reference::rotate(
            head, frequencies, places[row].position,
            one.halves ? reference::RotaryPairs::halves : reference::RotaryPairs::adjacent);
      }
      float top = 0;
      for (const float value : head) top = std::max(top, std::abs(value));
      for (std::size_t i = 0; i < dim; ++i) {
        const std::size_t at = ((std::size_t{places[row].slot} * kv_heads + kv_head) * context +
                                places[row].position) *
                                   dim +
                               i;
        const float stored =
            is_query ? got[from + i] : element(is_value ? got_values : got_keys, at);
        const float step = one.format == KvCacheFormat::q8_0 && !is_query ? top / 127 * 0.51f : 0;
        ASSERT_NEAR(stored, head[i], step + relative * std::abs(head[i]) + top * 16 * 0x1p-23f)
            << "row " << row << " head " << h << " element " << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, RotaryTest,
    testing::Values(RotaryCase{KvCacheFormat::f32, 64, 32, false, false, false},
                    RotaryCase{KvCacheFormat::f16, 64, 32, true, false, false},
                    RotaryCase{KvCacheFormat::q8_0, 64, 32, true, false, false},
                    RotaryCase{KvCacheFormat::f32, 128, 16, true, true, true},
                    RotaryCase{KvCacheFormat::q8_0, 256, 32, true, true, true},
                    RotaryCase{KvCacheFormat::f16, 8, 4, false, false, false},
                    RotaryCase{KvCacheFormat::f32, 12, 4, false, true, false}));

}  // namespace
}  // namespace weft::kernels
