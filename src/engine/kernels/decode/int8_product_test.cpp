// Products with int8 activations equal f64 sums over the same rounded numbers, for every format
// with quants, with subgroups and without, for one row and for several.
#include "engine/kernels/decode/int8_product.h"

#include <cmath>

#include "common/base/format.h"
#include "engine/kernels/decode/quantize_rows.h"
#include "engine/kernels/reference/activation.h"
#include "engine/kernels/reference/norm.h"
#include "engine/kernels/test_device.h"
#include "engine/kernels/test_weights.h"

namespace weft::kernels {
namespace {

using gguf::TensorType;
using Input = Int8ProductSpec::Input;
using Output = Int8ProductSpec::Output;

constexpr float epsilon = 1e-5f;

// Rounds as the kernels do: blocks of 32 to int8, each with its scale.
struct Rounded {
  std::vector<float> values;  // The values that the rounded numbers stand for.
  float step_max = 0;         // The largest scale of a block.
};
Rounded round_rows(const std::vector<float>& x) {
  Rounded out{x, 0};
  for (std::size_t begin = 0; begin < x.size(); begin += 32) {
    float most = 0;
    for (std::size_t i = begin; i < begin + 32; ++i) most = std::max(most, std::abs(x[i]));
    const float inverse = most > 0 ? 127 / most : 0, scale = most / 127;
    for (std::size_t i = begin; i < begin + 32; ++i)
      out.values[i] = std::nearbyint(x[i] * inverse) * scale;
    out.step_max = std::max(out.step_max, scale);
  }
  return out;
}

class Int8ProductTest : public test::KernelTest, public testing::WithParamInterface<TensorType> {
 protected:
  struct OnGpu {
    gpu::Buffer quants, scales;
  };
  static OnGpu upload_weights(const test::Matrix& matrix) {
    const WeightLayout layout{weight_format(matrix.type), matrix.columns};
    ByteVector quants(std::size_t{layout.quant_row_bytes()} * matrix.rows),
        scales(std::size_t{layout.scale_row_bytes()} * matrix.rows);
    EXPECT_TRUE(
        pack_weights(matrix.type, matrix.columns, matrix.bytes, quants, scales).has_value());
    return {upload(quants), upload(scales)};
  }
  // The input rows of a product: f32 rows, which the kernel norms, or rows that another kernel has
  // rounded.
  struct Rows {
    std::vector<float> x, gain;
    Rounded rounded;  // The normed row if the kernel norms.
    gpu::Buffer first, second;
  };
  static Rows make_rows(Input input, std::uint32_t rows, std::uint32_t columns) {
    Rows out{test::random_floats(std::size_t{rows} * columns, columns + rows, 3),
             test::random_floats(columns, 9),
             {},
             {},
             {}};
    if (input == Input::norm) {
      std::vector<float> normed(out.x.size());
      for (std::uint32_t r = 0; r < rows; ++r) {
        const std::size_t at = std::size_t{r} * columns;
        reference::rms_norm(std::span(out.x).subspan(at, columns), out.gain, epsilon,
                            std::span(normed).subspan(at, columns));
      }
      out.rounded = round_rows(normed);
      out.first = upload(out.x);
      out.second = upload(out.gain);
      return out;
    }
    out.rounded = round_rows(out.x);
    out.first = upload(std::vector<std::uint32_t>(out.x.size() / 4));
    out.second = upload(std::vector<float>(out.x.size() / 8));
    const gpu::Buffer x = upload(out.x);
    const QuantizeRowsSpec spec{.columns = columns, .pitch = columns};
    const gpu::Pipeline pipeline = compile(quantize_rows_pipeline(spec));
    const gpu::BindGroup group =
        device().create_bind_group(pipeline, 0, {{0, x}, {1, out.first}, {2, out.second}});
    run(pipeline, {&group}, quantize_rows_workgroups(spec, rows));
    return out;
  }
  // The error bound of a sum. A number near the middle of two quants may be rounded to either of
  // them, which is covered by a few steps of the activations times the largest weight. The rest is
  // the error of f32 sums of columns / 16 lanes.
  static double tolerance(const test::Matrix& matrix, const Rows& rows, double magnitudes) {
    return 4.0 * rows.rounded.step_max * matrix.top +
           magnitudes * (matrix.columns / 16.0 + 16) * 0x1p-24;
  }
  static double sum(const test::Matrix& matrix, const Rows& rows, std::size_t row,
                    std::size_t weight_row, double& magnitudes) {
    const reference::ExactSum exact = reference::exact_sum(
        matrix.row(weight_row),
        std::span(rows.rounded.values).subspan(row * matrix.columns, matrix.columns));
    magnitudes = exact.magnitudes;
    return exact.sum;
  }
  static std::vector<std::uint32_t> column_counts() {
    if (gguf::info(GetParam()).block_elements == 32) return {32, 64, 896, 1152, 4864};
    return {256, 768, 4864};
  }
  static bool packed() { return device().has("packed_4x8_integer_dot_product"); }
};

TEST_P(Int8ProductTest, EqualsSumsOfRoundedNumbers) {
  for (const bool subgroups : {true, false}) {
    const Team team = Team::of(device(), subgroups);
    const std::uint32_t workgroup = team.size * 8;
    for (const std::uint32_t columns : column_counts()) {
      // Without subgroups only one number of columns is tested, because compilation takes long.
      if (!subgroups && columns != column_counts().front()) continue;
      const test::Matrix matrix = test::random_matrix(GetParam(), 37, columns);
      const OnGpu weights = upload_weights(matrix);
      for (const Input input : {Input::norm, Input::quantized}) {
        for (const std::uint32_t count : {1u, 6u}) {
          Int8ProductSpec spec{.format = weight_format(matrix.type),
                               .weight_rows = matrix.rows,
                               .columns = columns,
                               .input = input,
                               .output = count == 1 ? Output::store : Output::accumulate,
                               .y_pitch = matrix.rows + 3,
                               .y_offset = 2,
                               .bias = count == 1,
                               .epsilon = epsilon,
                               .batch = count == 1 ? 1u : 4u,
                               .rows_each = count == 1 ? 1u : 2u,
                               .share = columns >= 896 ? 2u : 1u,
                               .ahead = 2};
          if (!int8_product_possible(device(), spec, team, workgroup)) continue;
          const Rows rows = make_rows(input, count, columns);
          const std::vector<float> bias = test::random_floats(matrix.rows, 4),
                                   before(std::size_t{count} * spec.y_pitch, 0.25f);
          const gpu::Buffer y = upload(before), bias_buffer = upload(bias),
                            size = uniform({.rows = count, .segments = count});
          const gpu::Pipeline pipeline =
              compile(int8_product_pipeline(spec, team, workgroup, packed()));
          const gpu::BindGroup weights_group =
              device().create_bind_group(pipeline, 0, {{0, weights.quants}, {1, weights.scales}});
          const gpu::BindGroup group = device().create_bind_group(
              pipeline, 1,
              {{0, rows.first}, {1, rows.second}, {2, y}, {3, bias_buffer}, {4, size}});

          run(pipeline, {&weights_group, &group},
              int8_product_workgroups(spec, team, workgroup, count));

          const auto got = download<float>(y, before.size());
          for (std::size_t r = 0; r < count; ++r) {
            for (std::size_t at = 0; at < spec.y_pitch; ++at) {
              const std::string what =
                  weft::format("{} columns, row {} of {}, at {}", columns, r, count, at);
              if (at < 2 || at >= 2 + matrix.rows) {
                ASSERT_EQ(got[r * spec.y_pitch + at], 0.25f) << what;
                continue;
              }
              double magnitudes = 0;
              const double expected =
                  sum(matrix, rows, r, at - 2, magnitudes) + (count == 1 ? bias[at - 2] : 0.25);
              ASSERT_NEAR(got[r * spec.y_pitch + at], expected,
                          tolerance(matrix, rows, magnitudes) + 1e-6)
                  << what;
            }
          }
        }
      }
    }
  }
}

TEST_P(Int8ProductTest, GatesAndRoundsAgain) {
  const Team team = Team::of(device());
  const std::uint32_t columns = column_counts()[1], width = 64, workgroup = team.size * 8;
  const test::Matrix matrix = test::random_matrix(GetParam(), 2 * width, columns);
  const OnGpu weights = upload_weights(matrix);
  for (const std::uint32_t count : {1u, 3u}) {
    const Activation activation = count == 3 ? Activation::gelu : Activation::silu;
    const Int8ProductSpec spec{.format = weight_format(matrix.type),
                               .weight_rows = 2 * width,
                               .columns = columns,
                               .input = Input::norm,
                               .output = Output::swiglu,
                               .activation = activation,
                               .epsilon = epsilon,
                               .batch = count,
                               .rows_each = 2,
                               .ahead = 2};
    if (!int8_product_possible(device(), spec, team, workgroup))
      GTEST_SKIP() << "not on this device";
    const Rows rows = make_rows(Input::norm, count, columns);
    const gpu::Buffer quants = upload(std::vector<std::uint32_t>(std::size_t{count} * width / 4)),
                      scales = upload(std::vector<float>(std::size_t{count} * width / 8));
    const gpu::Pipeline pipeline = compile(int8_product_pipeline(spec, team, workgroup, packed()));
    const gpu::BindGroup weights_group =
        device().create_bind_group(pipeline, 0, {{0, weights.quants}, {1, weights.scales}});
    const gpu::BindGroup group = device().create_bind_group(
        pipeline, 1, {{0, rows.first}, {1, rows.second}, {2, quants}, {3, scales}});

    run(pipeline, {&weights_group, &group}, int8_product_workgroups(spec, team, workgroup, count));

    const auto bytes = download<std::int8_t>(quants, std::size_t{count} * width);
    const auto lanes = download<float>(scales, std::size_t{count} * width / 8);
    for (std::size_t r = 0; r < count; ++r) {
      for (std::size_t n = 0; n < width; ++n) {
        double gate_magnitudes = 0, up_magnitudes = 0;
        const double gate = sum(matrix, rows, r, n, gate_magnitudes),
                     up = sum(matrix, rows, r, width + n, up_magnitudes);
        const double inner = activation == Activation::silu
                                 ? gate
                                 : 1.5957691216 * (gate + 0.044715 * gate * gate * gate);
        const double expected = gate / (1 + std::exp(-inner)) * up;
        // An error of the argument changes silu by at most 1.1 times that error, and gelu by 1.2
        // times.
        const double error = 1.2 * tolerance(matrix, rows, gate_magnitudes) * std::abs(up) +
                             std::abs(gate) * tolerance(matrix, rows, up_magnitudes);
        const std::size_t lane = (r * width + n) / 16;
        const float scale = lanes[2 * lane];
        ASSERT_NEAR(bytes[r * width + n] * scale, expected, 0.51 * scale + error + 1e-6)
            << "row " << r << ", " << n;
      }
      for (std::size_t lane = r * width / 16; lane < (r + 1) * width / 16; ++lane) {
        int total = 0;
        for (std::size_t i = 0; i < 16; ++i) total += bytes[lane * 16 + i];
        EXPECT_NEAR(lanes[2 * lane + 1], static_cast<float>(total) * lanes[2 * lane],
                    std::abs(lanes[2 * lane]) * 0.01f);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, Int8ProductTest,
                         testing::Values(TensorType::q8_0, TensorType::q4_0, TensorType::q4_1,
                                         TensorType::q5_0, TensorType::q5_1, TensorType::q3_k,
                                         TensorType::q4_k, TensorType::q5_k, TensorType::q6_k,
                                         TensorType::iq4_nl),
                         [](const auto& row) { return std::string(gguf::to_string(row.param)); });

class NormQuantizeTest : public test::KernelTest {};

TEST_F(NormQuantizeTest, RoundsWhatItNorms) {
  for (const bool subgroups : {true, false}) {
    const Team team = Team::of(device(), subgroups);
    for (const std::uint32_t columns : {32u, 896u, 2048u}) {
      const std::vector<float> x = test::random_floats(std::size_t{2} * columns, columns, 2),
                               gain = test::random_floats(columns, 5);
      const gpu::Buffer x_buffer = upload(x), gain_buffer = upload(gain),
                        quants = upload(std::vector<std::uint32_t>(2 * columns / 4)),
                        scales = upload(std::vector<float>(2 * columns / 8));
      const gpu::Pipeline pipeline = compile(
          norm_quantize_pipeline({.columns = columns, .epsilon = epsilon}, team, team.size * 8));
      const gpu::BindGroup group = device().create_bind_group(
          pipeline, 0, {{0, x_buffer}, {1, gain_buffer}, {2, quants}, {3, scales}});

      run(pipeline, {&group}, norm_quantize_workgroups(2));

      const auto bytes = download<std::int8_t>(quants, std::size_t{2} * columns);
      const auto lanes = download<float>(scales, 2 * columns / 8);
      std::vector<float> normed(columns);
      for (std::size_t r = 0; r < 2; ++r) {
        reference::rms_norm(std::span(x).subspan(r * columns, columns), gain, epsilon, normed);
        for (std::size_t i = 0; i < columns; ++i) {
          const float scale = lanes[(r * columns + i) / 16 * 2];
          ASSERT_NEAR(bytes[r * columns + i] * scale, normed[i], 0.501 * scale + 1e-6)
              << columns << " columns, row " << r << ", " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace weft::kernels
