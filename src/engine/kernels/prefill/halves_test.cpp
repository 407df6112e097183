// Kernels that pass rows on as f16 give the values of the f32 kernels, rounded.
#include <cmath>

#include "engine/gguf/half.h"
#include "engine/kernels/prefill/flash_attention.h"
#include "engine/kernels/prefill/matmul.h"
#include "engine/kernels/prefill/norm_halves.h"
#include "engine/kernels/reference/norm.h"
#include "engine/kernels/test_cache.h"
#include "engine/kernels/test_device.h"
#include "engine/kernels/test_weights.h"

namespace weft::kernels {
namespace {

class HalvesTest : public test::KernelTest {
 protected:
  static std::vector<float> widen(const std::vector<std::uint16_t>& halves) {
    std::vector<float> out;
    for (const std::uint16_t half : halves) out.push_back(gguf::half_to_float(half));
    return out;
  }
};

TEST_F(HalvesTest, NormsAsTheReferenceDoes) {
  if (!device().has("shader-f16")) GTEST_SKIP() << "no f16";
  for (const std::uint32_t columns : {4u, 896u, 2048u}) {
    std::vector<float> x = test::random_floats(std::size_t{3} * columns, columns, 2),
                       weight = test::random_floats(columns, 2);
    weight[1] = 1e9f;  // This weight is beyond the range of f16.
    const gpu::Pipeline pipeline =
        compile(norm_halves_pipeline({.columns = columns, .epsilon = 1e-5f}));
    const gpu::Buffer out = upload(std::vector<std::uint16_t>(std::size_t{3} * columns)),
                      x_buffer = upload(x), weight_buffer = upload(weight);
    const gpu::BindGroup group =
        device().create_bind_group(pipeline, 0, {{0, x_buffer}, {1, weight_buffer}, {2, out}});

    run(pipeline, {&group}, norm_halves_workgroups(3));

    std::vector<float> expected(std::size_t{3} * columns);
    for (std::size_t row = 0; row < 3; ++row)
      reference::rms_norm(std::span(x).subspan(row * columns, columns), weight, 1e-5f,
                          std::span(expected).subspan(row * columns, columns));
    for (float& value : expected) value = std::clamp(value, -65504.0f, 65504.0f);
    // The error bound: one rounding to f16 (up or down), which is half a step of 2^-24 for
    // subnormal numbers, and the errors of the f32 norm.
    test::expect_close(widen(download<std::uint16_t>(out, expected.size())), expected, 0x1p-24f,
                       0x1p-10f + 16 * 0x1p-23f, std::to_string(columns));
  }
}

TEST_F(HalvesTest, NormsAddWhatAProductLeft) {
  if (!device().has("shader-f16")) GTEST_SKIP() << "no f16";
  constexpr std::uint32_t columns = 896, rows = 3, splits = 4;
  const std::vector<float> x = test::random_floats(std::size_t{rows} * columns, 1),
                           weight = test::random_floats(columns, 2),
                           parts = test::random_floats(std::size_t{splits} * rows * columns, 3);
  std::vector<float> whole(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    float sum = 0;
    for (std::size_t split = 0; split < splits; ++split) sum += parts[split * x.size() + i];
    whole[i] = sum + x[i];
  }
  const NormHalvesSpec spec{.columns = columns, .epsilon = 1e-5f};
  NormHalvesSpec adding = spec;
  adding.splits = splits;
  const gpu::Pipeline plain = compile(norm_halves_pipeline(spec)),
                      sums = compile(norm_halves_pipeline(adding));
  const gpu::Buffer x_buffer = upload(x), whole_buffer = upload(whole),
                    parts_buffer = upload(parts), weight_buffer = upload(weight),
                    expected = upload(std::vector<std::uint16_t>(x.size())),
                    out = upload(std::vector<std::uint16_t>(x.size())),
                    size = uniform({.rows = rows, .segments = rows});
  const gpu::BindGroup
      plain_group = device().create_bind_group(
          plain, 0, {{0, whole_buffer}, {1, weight_buffer}, {2, expected}}),
      sums_group = device().create_bind_group(
          sums, 0, {{0, x_buffer}, {1, weight_buffer}, {2, out}, {3, parts_buffer}, {4, size}});

  run(plain, {&plain_group}, norm_halves_workgroups(rows));
  run(sums, {&sums_group}, norm_halves_workgroups(rows));

  EXPECT_EQ(download<float>(x_buffer, x.size()), whole);
  EXPECT_EQ(download<std::uint16_t>(out, x.size()), download<std::uint16_t>(expected, x.size()));
}

TEST_F(HalvesTest, ProductsAreTheirF32OnesRounded) {
  for (const MatmulOutput output : {MatmulOutput::store, MatmulOutput::swiglu}) {
    const test::Matrix matrix = test::random_matrix(gguf::TensorType::q8_0, 72, 64);
    MatmulSpec spec{.format = WeightFormat::q8,
                    .weight_rows = 72,
                    .columns = 64,
                    .x_pitch = 64,
                    .y_pitch = 80,
                    .y_offset = 4,
                    .output = output};
    spec.bias = output == MatmulOutput::store;
    MatmulTuning tuning = matmul_tuning(device(), spec, {.rows = 64});
    if (tuning.matrix_m == 0) GTEST_SKIP() << "no f16 subgroup matrices";
    tuning.splits = spec.bias ? 2 : 1;
    constexpr std::uint32_t rows = 35;
    const WeightLayout layout{spec.format, spec.columns};
    ByteVector quants(std::size_t{layout.quant_row_bytes()} * 72),
        scales(std::size_t{layout.scale_row_bytes()} * 72);
    ASSERT_TRUE(
        pack_weights(matrix.type, matrix.columns, matrix.bytes, quants, scales).has_value());
    const gpu::Buffer quants_buffer = upload(quants), scales_buffer = upload(scales),
                      x = upload(test::random_floats(std::size_t{rows} * 64, 1)),
                      bias = upload(test::random_floats(72, 2)),
                      size = uniform({.rows = rows, .segments = 1}),
                      partial =
                          upload(std::vector<float>(matmul_partial_bytes(spec, tuning, rows) / 4));
    const auto product = [&](bool halves, const gpu::Buffer& y) {
      spec.y_halves = halves;
      const gpu::Pipeline pipeline = compile(matmul_pipeline(spec, tuning));
      const gpu::BindGroup weights =
          device().create_bind_group(pipeline, 0, {{0, quants_buffer}, {1, scales_buffer}});
      const gpu::BindGroup group = device().create_bind_group(
          pipeline, 1, {{0, x}, {1, tuning.splits > 1 ? partial : y}, {2, bias}, {3, size}});
      run(pipeline, {&weights, &group}, matmul_workgroups(spec, tuning, rows));
      if (tuning.splits == 1) return;
      const gpu::Pipeline sum = compile(matmul_sum_pipeline(spec, tuning));
      const gpu::BindGroup sum_group =
          device().create_bind_group(sum, 0, {{0, partial}, {1, y}, {2, bias}, {3, size}});
      run(sum, {&sum_group}, matmul_sum_workgroups(spec, rows));
    };
    const gpu::Buffer floats = upload(std::vector<float>(std::size_t{rows + 1} * 80)),
                      halves = upload(std::vector<std::uint16_t>(std::size_t{rows + 1} * 80));

    product(false, floats);
    product(true, halves);

    test::expect_close(widen(download<std::uint16_t>(halves, std::size_t{rows + 1} * 80)),
                       download<float>(floats, std::size_t{rows + 1} * 80), 0x1p-24f, 0x1p-10f,
                       "product");
  }
}

TEST_F(HalvesTest, AttentionIsItsF32OneRounded) {
  const AttentionSpec spec{.cache = {.format = KvCacheFormat::f16,
                                     .slots = 1,
                                     .kv_heads = 1,
                                     .context = 40,
                                     .head_dim = 64},
                           .heads = 2,
                           .q_stride = 64,
                           .pitch = 128};
  FlashTuning tuning = flash_tuning(device(), spec);
  if (tuning.matrix_m == 0) GTEST_SKIP() << "no f16 subgroup matrices";
  const std::vector<Segment> segments = {{.slot = 0, .first_row = 0, .rows = 40}};
  std::vector<RowPlace> places;
  for (std::uint32_t i = 0; i < 40; ++i) places.push_back({.slot = 0, .position = i, .run = i});
  const auto tiles = attention_tiles(segments, tuning);
  const gpu::Buffer queries = upload(test::random_floats(40 * 128, 1)),
                    places_buffer = upload(places),
                    keys = upload(test::random_cache(spec.cache, 2).bytes),
                    values = upload(test::random_cache(spec.cache, 3).bytes),
                    tiles_buffer = upload(tiles), floats = upload(std::vector<float>(40 * 128)),
                    halves = upload(std::vector<std::uint16_t>(40 * 128));

  for (const bool out_halves : {false, true}) {
    tuning.out_halves = out_halves;
    const gpu::Pipeline pipeline = compile(flash_attention_pipeline(spec, tuning));
    const gpu::BindGroup group = device().create_bind_group(pipeline, 0,
                                                            {{0, queries},
                                                             {1, places_buffer},
                                                             {2, keys},
                                                             {3, values},
                                                             {4, out_halves ? halves : floats},
                                                             {5, tiles_buffer}});
    run(pipeline, {&group},
        flash_attention_workgroups(spec, static_cast<std::uint32_t>(tiles.size())));
  }

  test::expect_close(widen(download<std::uint16_t>(halves, 40 * 128)),
                     download<float>(floats, 40 * 128), 0x1p-24f, 0x1p-10f, "attention");
}

}  // namespace
}  // namespace weft::kernels
