// Weights of every format, packed for the GPU, have the values of gguf::dequantize(): one by one
// through the embedding, and in sums through the matrix-vector product, with subgroups and without.
#include "engine/kernels/weights.h"

#include <cmath>

#include "engine/kernels/embed.h"
#include "engine/kernels/matvec.h"
#include "engine/kernels/test_device.h"
#include "engine/kernels/test_weights.h"

namespace weft::kernels {
namespace {

using gguf::TensorType;
using test::Matrix;
using test::random_matrix;

class WeightsTest : public test::KernelTest, public testing::WithParamInterface<TensorType> {
 protected:
  struct OnGpu {
    gpu::Buffer quants, scales;
  };
  static OnGpu upload_weights(const Matrix& matrix) {
    const WeightLayout layout{weight_format(matrix.type), matrix.columns};
    ByteVector quants(std::size_t{layout.quant_row_bytes()} * matrix.rows),
        scales(std::size_t{layout.scale_row_bytes()} * matrix.rows);
    EXPECT_TRUE(
        pack_weights(matrix.type, matrix.columns, matrix.bytes, quants, scales).has_value());
    return {upload(quants), upload(scales)};
  }
  // Numbers of columns that the type's blocks allow; for floats also some that are no multiple of
  // 16.
  static std::vector<std::uint32_t> column_counts() {
    switch (gguf::info(GetParam()).block_elements) {
      case 1:
        return {4, 32, 64, 172, 896};
      case 32:
        return {32, 64, 896, 1152, 4864};
      default:
        return {256, 768, 4864};
    }
  }
};

TEST_P(WeightsTest, AreTheNumbersOfTheFile) {
  for (const std::uint32_t columns : column_counts()) {
    const Matrix matrix = random_matrix(GetParam(), 5, columns);
    const OnGpu weights = upload_weights(matrix);
    const EmbedSpec spec{.format = weight_format(matrix.type),
                         .weight_rows = 4,
                         .first_token = 10,
                         .columns = columns};
    // Token 9 is before the first token of these weights, and token 14 is after the last one.
    const gpu::Buffer tokens = upload<std::uint32_t>({13, 9, 10, 14}),
                      out = upload(std::vector<float>(std::size_t{4} * columns, 7));
    const gpu::Buffer size = uniform({.rows = 4, .segments = 1});
    const gpu::Pipeline pipeline = compile(embed_pipeline(spec));
    const gpu::BindGroup weights_group =
        device().create_bind_group(pipeline, 0, {{0, weights.quants}, {1, weights.scales}});
    const gpu::BindGroup group =
        device().create_bind_group(pipeline, 1, {{0, tokens}, {1, out}, {2, size}});

    run(pipeline, {&weights_group, &group}, embed_workgroups(4));

    std::vector<float> expected(std::size_t{4} * columns, 7);
    std::copy_n(matrix.values.begin() + std::ptrdiff_t{3} * columns, columns, expected.begin());
    std::copy_n(matrix.values.begin(), columns, expected.begin() + std::ptrdiff_t{2} * columns);
    // The error bound: a scale times a quant plus a minimum may be fused or not, which is one
    // rounding of each of the two terms, of which the larger can be 63 * 15 times the smallest
    // step. 2^-22 of the row's largest number covers both.
    test::expect_close(download<float>(out, expected.size()), expected, matrix.top * 0x1p-22f, 0,
                       std::to_string(columns) + " columns");
  }
}

TEST_P(WeightsTest, MultiplyAsTheReferenceDoes) {
  for (const bool subgroups : {true, false}) {
    const Team team = Team::of(device(), subgroups);
    for (const std::uint32_t columns : column_counts()) {
      if (!subgroups && columns != column_counts().front() && columns != column_counts().back())
        continue;  // These cases are skipped, because compilation takes long.
      for (const std::uint32_t rows : {1u, 37u}) {
        if (rows == 1 && columns != column_counts().front()) continue;
        const Matrix matrix = random_matrix(GetParam(), rows, columns);
        const OnGpu weights = upload_weights(matrix);
        for (const std::uint32_t batch : {1u, 4u}) {
          constexpr std::uint32_t x_rows_max = 9;
          const std::uint32_t x_rows = batch == 1 ? 1 : x_rows_max;
          const MatvecSpec spec{.format = weight_format(matrix.type),
                                .weight_rows = rows,
                                .columns = columns,
                                .x_pitch = columns + 4,
                                .y_pitch = rows + 3,
                                .y_offset = 2,
                                .batch = batch,
                                .bias = columns % 64 == 0,
                                .accumulate = rows > 1};
          const std::vector<float> x = test::random_floats(std::size_t{x_rows} * spec.x_pitch,
                                                           columns),
                                   bias = test::random_floats(rows, 3);
          const gpu::Buffer x_buffer = upload(x),
                            y = upload(
                                std::vector<float>(std::size_t{x_rows} * spec.y_pitch, 0.5f)),
                            bias_buffer = upload(bias);
          const gpu::Buffer size = uniform({.rows = x_rows, .segments = 1});
          const gpu::Pipeline pipeline = compile(matvec_pipeline(spec, team, 64));
          const gpu::BindGroup weights_group =
              device().create_bind_group(pipeline, 0, {{0, weights.quants}, {1, weights.scales}});
          const gpu::BindGroup group = device().create_bind_group(
              pipeline, 1, {{0, x_buffer}, {1, y}, {2, bias_buffer}, {3, size}});

          run(pipeline, {&weights_group, &group}, matvec_workgroups(spec, team, 64, x_rows));

          const auto got = download<float>(y, std::size_t{x_rows} * spec.y_pitch);
          for (std::uint32_t i = 0; i < x_rows; ++i) {
            for (std::uint32_t n = 0; n < rows; ++n) {
              auto [sum, magnitudes] = reference::exact_sum(
                  matrix.row(n), std::span(x).subspan(std::size_t{i} * spec.x_pitch, columns));
              magnitudes += 1;
              if (spec.bias) sum += bias[n];
              if (spec.accumulate) sum += 0.5;
              // The error bound: a thread adds columns / TEAM / 4 sums of four, the team adds
              // log2(TEAM) more, and every weight has two roundings of its own; each addition loses
              // at most 2^-24 of the magnitudes so far.
              const std::uint32_t of_thread = columns / team.size;
              const double steps = of_thread / 4.0 + 16;
              ASSERT_NEAR(got[std::size_t{i} * spec.y_pitch + 2 + n], sum,
                          steps * 0x1p-24 * magnitudes)
                  << columns << " columns, weight row " << n << ", x row " << i << ", subgroups "
                  << subgroups;
            }
            ASSERT_EQ(got[std::size_t{i} * spec.y_pitch + 1], 0.5f);
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, WeightsTest,
                         testing::Values(TensorType::f32, TensorType::f16, TensorType::bf16,
                                         TensorType::q8_0, TensorType::q4_0, TensorType::q4_1,
                                         TensorType::q5_0, TensorType::q5_1, TensorType::q2_k,
                                         TensorType::q3_k, TensorType::q4_k, TensorType::q5_k,
                                         TensorType::q6_k, TensorType::iq4_nl, TensorType::mxfp4),
                         [](const auto& row) { return std::string(gguf::to_string(row.param)); });

}  // namespace
}  // namespace weft::kernels
