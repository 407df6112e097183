// Products of many rows equal f64 sums, with subgroup matrices and without, for every weight
// format, for shapes around the edges of tiles, and do not write beyond the rows.
#include "engine/kernels/prefill/matmul.h"

#include <algorithm>
#include <array>

#include "common/base/format.h"
#include "common/base/long_tests.h"
#include "engine/kernels/test_device.h"
#include "engine/kernels/test_weights.h"

namespace weft::kernels {
namespace {

using gguf::TensorType;
using test::Matrix;

class MatmulTest : public test::KernelTest {
 protected:
  static bool uses_matrices(const MatmulTuning& tuning) { return tuning.matrix_m != 0; }

  // Runs `spec` for every number of rows and compares the results with f64 sums.
  static void compare(const Matrix& matrix, const MatmulSpec& spec, const MatmulTuning& tuning,
                      const std::vector<std::uint32_t>& row_counts) {
    const WeightLayout layout{weight_format(matrix.type), matrix.columns};
    ByteVector quants(std::size_t{layout.quant_row_bytes()} * matrix.rows),
        scales(std::size_t{layout.scale_row_bytes()} * matrix.rows);
    ASSERT_TRUE(
        pack_weights(matrix.type, matrix.columns, matrix.bytes, quants, scales).has_value());
    const std::string what =
        weft::format("{} {}x{} tile {}x{}x{} matrix {} splits {}", to_string(spec.format),
                     spec.weight_rows, spec.columns, tuning.tile_rows, tuning.tile_columns,
                     tuning.tile_depth, tuning.matrix_m, tuning.splits);
    SCOPED_TRACE(what);
    const gpu::Buffer quants_buffer = upload(quants), scales_buffer = upload(scales);
    const gpu::Pipeline pipeline = compile(matmul_pipeline(spec, tuning));
    const gpu::BindGroup weights =
        device().create_bind_group(pipeline, 0, {{0, quants_buffer}, {1, scales_buffer}});
    const std::vector<float> bias = test::random_floats(spec.weight_rows, 3);
    const gpu::Buffer bias_buffer = upload(bias);
    for (const std::uint32_t rows : row_counts) {
      // y has two more rows, which the kernel must not change.
      const std::size_t y_count = std::size_t{rows + 2} * spec.y_pitch;
      const std::vector<float> x =
          test::random_floats(std::size_t{rows} * spec.x_pitch, rows + spec.columns);
      std::vector<std::uint16_t> x_halves;
      if (spec.x_halves)
        for (const float value : x) x_halves.push_back(gguf::float_to_half(value));
      const gpu::Buffer x_buffer = spec.x_halves ? upload(x_halves) : upload(x),
                        y = upload(std::vector<float>(y_count, 0.5f)),
                        size = uniform({.rows = rows, .segments = 1});
      if (tuning.splits == 1) {
        const gpu::BindGroup group = device().create_bind_group(
            pipeline, 1, {{0, x_buffer}, {1, y}, {2, bias_buffer}, {3, size}});
        run(pipeline, {&weights, &group}, matmul_workgroups(spec, tuning, rows));
      } else {
        const gpu::Buffer partial =
            upload(std::vector<float>(matmul_partial_bytes(spec, tuning, rows) / 4, 9.0f));
        const gpu::BindGroup group = device().create_bind_group(
            pipeline, 1, {{0, x_buffer}, {1, partial}, {2, bias_buffer}, {3, size}});
        run(pipeline, {&weights, &group}, matmul_workgroups(spec, tuning, rows));
        const gpu::Pipeline sum = compile(matmul_sum_pipeline(spec, tuning));
        const gpu::BindGroup sum_group =
            device().create_bind_group(sum, 0, {{0, partial}, {1, y}, {2, bias_buffer}, {3, size}});
        run(sum, {&sum_group}, matmul_sum_workgroups(spec, rows));
      }
      const auto got = download<float>(y, y_count);
      // The error bound. Each f32 addition loses at most 2^-24 of the magnitudes so far: an element
      // takes at worst columns / 4 sums of four one after another, and every weight has two
      // roundings of its own. In f16 both factors lose up to 2^-11 of themselves, or 2^-25 if they
      // are subnormal; factors of x stay below 6.
      const double relative =
          (spec.columns / 4.0 + 16) * 0x1p-24 + (uses_matrices(tuning) ? 0x1p-10 : 0);
      const double absolute = uses_matrices(tuning) ? spec.columns * 6 * 0x1p-25 : 0;
      const auto product = [&](std::uint32_t row, std::uint32_t n) {
        const auto [sum, magnitudes] = reference::exact_sum(
            matrix.row(n), std::span(x).subspan(std::size_t{row} * spec.x_pitch, spec.columns));
        return std::pair(sum, (magnitudes + 1e-6) * relative + absolute);
      };
      for (std::uint32_t row = 0; row < rows; ++row) {
        for (std::uint32_t n = 0; n < spec.outputs(); ++n) {
          auto [expected, error] = product(row, n);
          if (spec.output == MatmulOutput::swiglu) {
            // The derivative of silu is at most 1.1 and that of gelu 1.2, and both functions are at
            // most |x|; exp() of x has an error of (3 + 2|x|) units in the last place.
            const auto [up, up_error] = product(row, n + spec.outputs());
            const double inner =
                spec.activation == Activation::silu
                    ? expected
                    : 1.5957691216 * (expected + 0.044715 * expected * expected * expected);
            const double silu = expected / (1 + std::exp(-inner));
            error = 1.2 * error * std::abs(up) + std::abs(silu) * up_error + error * up_error +
                    (8 + 4 * std::abs(inner)) * 0x1p-23 * std::abs(silu * up);
            expected = silu * up;
          }
          if (spec.bias) expected += bias[n];
          if (spec.output == MatmulOutput::accumulate) expected += 0.5;
          ASSERT_NEAR(got[std::size_t{row} * spec.y_pitch + spec.y_offset + n], expected,
                      error + 4 * 0x1p-24 * (std::abs(expected) + 4))
              << rows << " rows, row " << row << " output " << n;
        }
        for (std::uint32_t n = 0; n < spec.y_pitch; ++n) {
          if (n < spec.y_offset || n >= spec.y_offset + spec.outputs()) {
            ASSERT_EQ(got[std::size_t{row} * spec.y_pitch + n], 0.5f) << "row " << row;
          }
        }
      }
      for (std::size_t i = std::size_t{rows} * spec.y_pitch; i < y_count; ++i)
        ASSERT_EQ(got[i], 0.5f) << rows << " rows: beyond them";
    }
  }

  static MatmulSpec spec_of(const Matrix& matrix, MatmulOutput output, bool bias,
                            std::uint32_t y_extra) {
    MatmulSpec spec{.format = weight_format(matrix.type),
                    .weight_rows = matrix.rows,
                    .columns = matrix.columns,
                    .x_pitch = matrix.columns + 4,
                    .y_offset = y_extra,
                    .output = output,
                    .bias = bias};
    spec.y_pitch = spec.outputs() + 2 * y_extra;
    return spec;
  }
};

class MatmulFormatTest : public MatmulTest, public testing::WithParamInterface<TensorType> {};

TEST_P(MatmulFormatTest, MultipliesAsTheReferenceDoes) {
  const std::uint32_t columns = gguf::info(GetParam()).block_elements > 32 ? 768 : 160;
  const Matrix matrix = test::random_matrix(GetParam(), 70, columns);
  // The quick run uses small tiles, which are compiled sooner and read weights with the same WGSL
  // text.
  const std::uint32_t tile = weft::test::long_tests() ? 64 : 16;
  for (const bool exact : {true, false}) {
    const MatmulSpec spec = spec_of(matrix, MatmulOutput::store, false, 0);
    compare(matrix, spec, matmul_tuning(device(), spec, {.rows = tile, .exact = exact}), {17});
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, MatmulFormatTest,
                         testing::Values(TensorType::f32, TensorType::f16, TensorType::bf16,
                                         TensorType::q8_0, TensorType::q4_0, TensorType::q4_1,
                                         TensorType::q5_0, TensorType::q5_1, TensorType::q2_k,
                                         TensorType::q3_k, TensorType::q4_k, TensorType::q5_k,
                                         TensorType::q6_k, TensorType::iq4_nl, TensorType::mxfp4),
                         [](const auto& row) { return std::string(gguf::to_string(row.param)); });

// Numbers of columns: one tile, two, and many of which the last is not full. Numbers of outputs:
// one, one more than half a tile, one more than a tile, whole tiles, and many. A software device
// takes seconds to compile each shape: the quick run has each number once, the long run has all
// pairs.
TEST_F(MatmulTest, KeepsToItsEdges) {
  constexpr std::array<std::pair<std::uint32_t, std::uint32_t>, 5> quick{
      {{32, 1}, {64, 33}, {896, 65}, {1152, 128}, {32, 200}}};
  for (const std::uint32_t columns : {32u, 64u, 896u, 1152u}) {
    for (const std::uint32_t outputs : {1u, 33u, 65u, 128u, 200u}) {
      if (!weft::test::long_tests() && !std::ranges::contains(quick, std::pair(columns, outputs)))
        continue;
      for (const bool exact : {true, false}) {
        const auto output =
            (outputs + columns / 32) % 2 == 0 ? MatmulOutput::store : MatmulOutput::accumulate;
        const Matrix matrix = test::random_matrix(
            columns == 64 ? TensorType::q4_0 : TensorType::q8_0, outputs, columns);
        const MatmulSpec spec = spec_of(matrix, output, columns == 896, outputs % 2 == 0 ? 4 : 3);
        // Tests fewer cases, because the reference is slow.
        const bool few = columns > 64 && outputs > 65;
        compare(matrix, spec, matmul_tuning(device(), spec, {.rows = 64, .exact = exact}),
                few ? std::vector{1u, 65u} : std::vector{1u, 2u, 17u, 64u, 65u, 130u});
      }
    }
  }
}

TEST_F(MatmulTest, GatesAsTheReferenceDoes) {
  for (const std::uint32_t columns : {32u, 896u}) {
    for (const std::uint32_t outputs : {1u, 33u, 100u}) {
      // Only long runs test all pairs of columns and outputs.
      if (!weft::test::long_tests() && (outputs == 33) != (columns == 896)) continue;
      for (const bool exact : {true, false}) {
        const Matrix matrix = test::random_matrix(TensorType::q8_0, 2 * outputs, columns);
        MatmulSpec spec = spec_of(matrix, MatmulOutput::swiglu, false, outputs % 2 == 0 ? 4 : 3);
        spec.activation = outputs == 33 ? Activation::gelu : Activation::silu;
        compare(matrix, spec, matmul_tuning(device(), spec, {.rows = 64, .exact = exact}), {1, 65});
      }
    }
  }
}

// A row has the same bits in passes of any number of rows, at any place in the pass, with the
// tiling for that number of rows.
TEST_F(MatmulTest, GivesARowTheSameBitsAmongAnyOthers) {
  constexpr std::uint32_t most = 300;
  struct Shape {
    std::uint32_t rows, columns;
    MatmulOutput output;
    TensorType type;
  };
  for (const Shape& shape : {Shape{200, 1024, MatmulOutput::accumulate, TensorType::q8_0},
                             Shape{96, 160, MatmulOutput::store, TensorType::q4_0},
                             Shape{96, 2048, MatmulOutput::store, TensorType::q4_k},
                             Shape{128, 192, MatmulOutput::swiglu, TensorType::q8_0}}) {
    const Matrix matrix = test::random_matrix(shape.type, shape.rows, shape.columns);
    MatmulSpec spec{.format = weight_format(matrix.type),
                    .weight_rows = shape.rows,
                    .columns = shape.columns,
                    .x_pitch = shape.columns,
                    .output = shape.output,
                    .x_halves = true,
                    .y_halves = shape.output == MatmulOutput::swiglu};
    spec.y_pitch = spec.outputs();
    const std::vector<MatmulFrom> ways = matmul_same_bits(device(), spec, most);
    if (ways.empty()) GTEST_SKIP() << "no f16 subgroup matrices";
    EXPECT_GT(ways.size(), 1u) << "there is a tiling for many rows";
    const WeightLayout layout{spec.format, spec.columns};
    ByteVector quants(std::size_t{layout.quant_row_bytes()} * shape.rows),
        scales(std::size_t{layout.scale_row_bytes()} * shape.rows);
    ASSERT_TRUE(
        pack_weights(matrix.type, matrix.columns, matrix.bytes, quants, scales).has_value());
    const gpu::Buffer quants_buffer = upload(quants), scales_buffer = upload(scales),
                      none = upload(std::vector<float>(4));
    std::vector<std::uint16_t> x;
    for (const float value : test::random_floats(std::size_t{most} * shape.columns, 5))
      x.push_back(gguf::float_to_half(value));
    // For each row, the words of its output in the first pass.
    std::vector<std::vector<std::uint32_t>> words(most);
    const auto product = [&](std::uint32_t first, std::uint32_t rows) {
      auto way = ways.end() - 1;
      while (way->rows_min > rows) --way;
      const MatmulTuning& tuning = way->tuning;
      const std::size_t row_words = spec.outputs() / (spec.y_halves ? 2 : 1);
      const gpu::Buffer rows_buffer = upload(std::vector<std::uint16_t>(
                            x.begin() + std::ptrdiff_t{first} * shape.columns,
                            x.begin() + std::ptrdiff_t{first + rows} * shape.columns)),
                        y = upload(std::vector<float>(std::size_t{rows} * spec.outputs(), 0.25f)),
                        partial = upload(
                            std::vector<float>(matmul_partial_bytes(spec, tuning, rows) / 4)),
                        size = uniform({.rows = rows, .segments = rows});
      const gpu::Pipeline pipeline = compile(matmul_pipeline(spec, tuning));
      const gpu::BindGroup weights =
          device().create_bind_group(pipeline, 0, {{0, quants_buffer}, {1, scales_buffer}});
      const gpu::BindGroup group = device().create_bind_group(
          pipeline, 1,
          {{0, rows_buffer}, {1, tuning.splits > 1 ? partial : y}, {2, none}, {3, size}});
      run(pipeline, {&weights, &group}, matmul_workgroups(spec, tuning, rows));
      if (tuning.splits > 1) {
        const gpu::Pipeline sum = compile(matmul_sum_pipeline(spec, tuning));
        const gpu::BindGroup sum_group =
            device().create_bind_group(sum, 0, {{0, partial}, {1, y}, {2, none}, {3, size}});
        run(sum, {&sum_group}, matmul_sum_workgroups(spec, rows));
      }
      const auto got = download<std::uint32_t>(y, rows * row_words);
      for (std::uint32_t row = 0; row < rows; ++row) {
        const std::vector<std::uint32_t> mine(got.begin() + std::ptrdiff_t(row * row_words),
                                              got.begin() + std::ptrdiff_t((row + 1) * row_words));
        if (words[first + row].empty()) words[first + row] = mine;
        EXPECT_EQ(mine, words[first + row])
            << shape.rows << " x " << shape.columns << ", row " << first + row << " in a pass of "
            << rows << " from " << first;
      }
    };
    for (const std::uint32_t row : {0u, 1u, 20u, 40u, 69u}) product(row, 1);
    product(0, 5);
    product(17, 24);
    product(0, 70);
    product(3, 130);
    product(0, most);
  }
}

TEST_F(MatmulTest, SplitsAndDepthsGiveTheSame) {
  const Matrix matrix = test::random_matrix(TensorType::q8_0, 68, 480);
  for (const auto output : {MatmulOutput::store, MatmulOutput::accumulate}) {
    const MatmulSpec spec = spec_of(matrix, output, true, 4);
    for (const bool exact : {true, false}) {
      MatmulTuning tuning = matmul_tuning(device(), spec, {.rows = 64, .exact = exact});
      tuning.splits = 3;
      compare(matrix, spec, tuning, {5, 66});
      if (!uses_matrices(tuning)) continue;
      for (const std::uint32_t depth : {32u, 48u}) {
        // Only long runs test all pairs of depth and output.
        if (!weft::test::long_tests() && (depth == 32) != (output == MatmulOutput::store)) continue;
        for (const std::uint32_t splits : {1u, 2u}) {
          tuning.splits = splits;
          tuning.ahead = splits == 1;
          tuning.tile_depth = depth;
          ASSERT_LE(tuning.workgroup_bytes(), device().limits().workgroup_storage_bytes_max);
          compare(matrix, spec, tuning, {66});
        }
      }
    }
  }
}

TEST_F(MatmulTest, TilesOfEverySizeGiveTheSame) {
  const Matrix matrix = test::random_matrix(TensorType::q8_0, 200, 96);
  for (const auto output : {MatmulOutput::store, MatmulOutput::swiglu}) {
    const MatmulSpec spec = spec_of(matrix, output, false, 4);
    for (const std::uint32_t rows : {16u, 32u, 64u, 512u}) {
      // Only long runs test gated outputs in tiles of every size.
      if (!weft::test::long_tests() && output == MatmulOutput::swiglu && rows != 32) continue;
      for (const bool exact : {true, false})
        compare(matrix, spec, matmul_tuning(device(), spec, {.rows = rows, .exact = exact}), {70});
    }
    MatmulTuning tuning = matmul_tuning(device(), spec, {.rows = 512});
    if (!uses_matrices(tuning)) continue;
    tuning.tile_rows = 64;
    tuning.tile_columns = 128;
    tuning.subgroup_rows = 2 * tuning.matrix_m;
    tuning.subgroup_columns = 4 * tuning.matrix_n;
    tuning.tile_depth = 32;
    compare(matrix, spec, tuning, {130});
  }
}

TEST_F(MatmulTest, TakesRowsInF16) {
  const Matrix matrix = test::random_matrix(TensorType::q8_0, 40, 96);
  MatmulSpec spec = spec_of(matrix, MatmulOutput::store, false, 0);
  spec.x_halves = true;
  spec.x_pitch = 104;
  const MatmulTuning tuning = matmul_tuning(device(), spec, {.rows = 64});
  if (!uses_matrices(tuning)) GTEST_SKIP() << "no f16 subgroup matrices";
  compare(matrix, spec, tuning, {1, 33});
}

TEST_F(MatmulTest, NumbersBeyondF16DoNotOverflow) {
  const Matrix matrix = test::random_matrix(TensorType::q8_0, 8, 32);
  const MatmulSpec spec = spec_of(matrix, MatmulOutput::store, false, 0);
  const MatmulTuning tuning = matmul_tuning(device(), spec, {.rows = 64});
  if (!uses_matrices(tuning)) GTEST_SKIP() << "no f16 subgroup matrices";
  std::vector<float> x(spec.x_pitch);
  x[3] = 3e6f;
  const WeightLayout layout{weight_format(matrix.type), matrix.columns};
  ByteVector quants(std::size_t{layout.quant_row_bytes()} * matrix.rows),
      scales(std::size_t{layout.scale_row_bytes()} * matrix.rows);
  ASSERT_TRUE(pack_weights(matrix.type, matrix.columns, matrix.bytes, quants, scales).has_value());
  const gpu::Buffer quants_buffer = upload(quants), scales_buffer = upload(scales),
                    x_buffer = upload(x), y = upload(std::vector<float>(8)),
                    size = uniform({.rows = 1, .segments = 1});
  const gpu::Pipeline pipeline = compile(matmul_pipeline(spec, tuning));
  const gpu::BindGroup weights =
      device().create_bind_group(pipeline, 0, {{0, quants_buffer}, {1, scales_buffer}});
  const gpu::BindGroup group =
      device().create_bind_group(pipeline, 1, {{0, x_buffer}, {1, y}, {2, x_buffer}, {3, size}});

  run(pipeline, {&weights, &group}, matmul_workgroups(spec, tuning, 1));

  const auto got = download<float>(y, 8);
  for (std::size_t n = 0; n < 8; ++n)
    EXPECT_NEAR(got[n], 65504 * matrix.values[n * 32 + 3],
                65504 * (std::abs(matrix.values[n * 32 + 3]) * 0x1p-10 + 0x1p-25));
}

}  // namespace
}  // namespace weft::kernels
