// The choice of experts and their products equal those of plain loops: with equal scores, for every
// weight format, with weights in several parts, and for several tensors stored one after another.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/base/format.h"
#include "engine/kernels/experts/choose_experts.h"
#include "engine/kernels/experts/expert_product.h"
#include "engine/kernels/test_device.h"
#include "engine/kernels/test_weights.h"

namespace weft::kernels {
namespace {

using gguf::TensorType;
using Output = ExpertProductSpec::Output;

class ChooseExperts : public test::KernelTest {};

TEST_F(ChooseExperts, TakesTheBestAndWeighsThem) {
  for (const ChooseExpertsSpec spec :
       {ChooseExpertsSpec{1, 1}, {7, 3}, {64, 8}, {130, 130}, {2048, 10}}) {
    SCOPED_TRACE(weft::format("{} of {}", spec.used, spec.experts));
    constexpr std::uint32_t rows = 5;
    std::vector<float> scores = test::random_floats(std::size_t{rows} * spec.experts, 1, 3);
    // The scores of the second row are equal.
    std::fill_n(scores.begin() + spec.experts, spec.experts, 0.5f);
    const std::size_t places = std::size_t{rows} * spec.used;
    const gpu::Buffer in = upload(scores), out = upload(std::vector<ChosenExpert>(places));
    const gpu::Pipeline pipeline = compile(choose_experts_pipeline(spec));
    const gpu::BindGroup group = device().create_bind_group(pipeline, 0, {{0, in}, {1, out}});

    run(pipeline, {&group}, choose_experts_workgroups(rows));

    const auto got = download<ChosenExpert>(out, places);
    for (std::uint32_t row = 0; row < rows; ++row) {
      const auto own = std::span(scores).subspan(std::size_t{row} * spec.experts, spec.experts);
      std::vector<std::uint32_t> order(spec.experts);
      std::iota(order.begin(), order.end(), 0u);
      std::ranges::stable_sort(order, [&](auto a, auto b) { return own[a] > own[b]; });
      double sum = 0;
      for (std::uint32_t i = 0; i < spec.used; ++i) sum += std::exp(double{own[order[i]]});
      for (std::uint32_t i = 0; i < spec.used; ++i) {
        const ChosenExpert& one = got[std::size_t{row} * spec.used + i];
        ASSERT_EQ(one.expert, order[i]) << "row " << row << ", place " << i;
        ASSERT_NEAR(one.weight, std::exp(double{own[order[i]]}) / sum, 1e-5);
      }
    }
  }
}

TEST_F(ChooseExperts, NamesExpertsThatExistWhereScoresAreNoNumbers) {
  const ChooseExpertsSpec spec{.experts = 6, .used = 3};
  const gpu::Buffer in = upload(std::vector<float>(6, std::nanf(""))),
                    out = upload(std::vector<ChosenExpert>(3, {.expert = 99}));
  const gpu::Pipeline pipeline = compile(choose_experts_pipeline(spec));
  const gpu::BindGroup group = device().create_bind_group(pipeline, 0, {{0, in}, {1, out}});

  run(pipeline, {&group}, choose_experts_workgroups(1));

  for (const ChosenExpert& one : download<ChosenExpert>(out, 3)) EXPECT_LT(one.expert, 6u);
}

class ExpertProduct : public test::KernelTest, public testing::WithParamInterface<TensorType> {
 protected:
  struct Part {
    std::uint32_t first, rows;
    gpu::Buffer quants, scales;
  };
  // Uploads a matrix in parts of at most `rows_max` rows.
  static std::vector<Part> upload_parts(const test::Matrix& matrix, std::uint32_t rows_max) {
    const WeightLayout layout{weight_format(matrix.type), matrix.columns};
    const std::size_t row_bytes = matrix.bytes.size() / matrix.rows;
    std::vector<Part> out;
    for (std::uint32_t first = 0; first < matrix.rows; first += rows_max) {
      const std::uint32_t rows = std::min(rows_max, matrix.rows - first);
      ByteVector quants(std::size_t{layout.quant_row_bytes()} * rows),
          scales(std::size_t{layout.scale_row_bytes()} * rows);
      EXPECT_TRUE(pack_weights(matrix.type, matrix.columns,
                               ByteSpan(matrix.bytes).subspan(first * row_bytes, rows * row_bytes),
                               quants, scales)
                      .has_value());
      out.push_back({first, rows, upload(quants), upload(scales)});
    }
    return out;
  }
};

TEST_P(ExpertProduct, EqualsPlainLoops) {
  constexpr std::uint32_t experts = 5, used = 2, outputs = 9, rows = 3;
  const std::uint32_t block = gguf::info(GetParam()).block_elements,
                      columns = block == 1 ? 36 : block * 2;
  const std::vector<ChosenExpert> chosen{{4, 0.75f}, {0, 0.25f}, {2, 0.5f},
                                         {3, 0.5f},  {1, 0.9f},  {4, 0.1f}};
  const gpu::Buffer chosen_buffer = upload(chosen);
  const Team team = Team::of(device());
  constexpr std::uint32_t workgroup = 64;
  for (const Output output : {Output::each, Output::summed}) {
    const bool summed = output == Output::summed;
    const std::uint32_t tensors = summed ? 1 : 2;
    const test::Matrix matrix =
        test::random_matrix(GetParam(), tensors * experts * outputs, columns);
    const std::uint32_t x_rows = summed ? rows * used : rows, y_rows = summed ? rows : rows * used;
    const auto x = test::random_floats(std::size_t{x_rows} * columns, 5);
    ExpertProductSpec spec{.format = weight_format(GetParam()),
                           .experts = experts,
                           .used = used,
                           .outputs = outputs,
                           .tensors = tensors,
                           .columns = columns,
                           .y_pitch = tensors * outputs + 3,
                           .y_offset = 2,
                           .output = output};
    // The matrix is uploaded whole, and in parts that end within an expert.
    for (const std::uint32_t part_rows : {matrix.rows, 13u}) {
      SCOPED_TRACE(weft::format("summed {}, parts of {} rows", summed, part_rows));
      const gpu::Buffer x_buffer = upload(x),
                        y = upload(std::vector<float>(std::size_t{y_rows} * spec.y_pitch, 0.5f));
      for (const Part& part : upload_parts(matrix, part_rows)) {
        spec.part_first = part.first;
        spec.part_rows = part.rows;
        const gpu::Pipeline pipeline = compile(expert_product_pipeline(spec, team, workgroup));
        const gpu::BindGroup weights =
            device().create_bind_group(pipeline, 0, {{0, part.quants}, {1, part.scales}});
        const gpu::BindGroup group =
            device().create_bind_group(pipeline, 1, {{0, x_buffer}, {1, y}, {2, chosen_buffer}});

        run(pipeline, {&weights, &group}, expert_product_workgroups(spec, team, workgroup, rows));
      }

      const auto got = download<float>(y, std::size_t{y_rows} * spec.y_pitch);
      const auto product = [&](std::uint32_t weight_row, std::uint32_t x_row, double& magnitudes) {
        double sum = 0;
        for (std::uint32_t c = 0; c < columns; ++c) {
          const double one = double{matrix.values[std::size_t{weight_row} * columns + c]} *
                             x[std::size_t{x_row} * columns + c];
          sum += one;
          magnitudes += std::abs(one);
        }
        return sum;
      };
      for (std::uint32_t row = 0; row < y_rows; ++row) {
        EXPECT_EQ(got[std::size_t{row} * spec.y_pitch + 1], 0.5f) << "before the first output";
        for (std::uint32_t n = 0; n < tensors * outputs; ++n) {
          double expected = summed ? 0.5 : 0, magnitudes = 1;
          for (std::uint32_t place = 0; place < (summed ? used : 1); ++place) {
            const std::uint32_t at = summed ? row * used + place : row;
            const std::uint32_t weight_row =
                (n / outputs * experts + chosen[at].expert) * outputs + n % outputs;
            expected += product(weight_row, summed ? at : at / used, magnitudes) *
                        (summed ? chosen[at].weight : 1);
          }
          // The error bound of matvec.h: additions in another order, and one or two roundings of
          // each weight.
          ASSERT_NEAR(got[std::size_t{row} * spec.y_pitch + 2 + n], expected,
                      64 * 0x1p-24 * magnitudes)
              << "row " << row << ", output " << n;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, ExpertProduct,
                         testing::Values(TensorType::f32, TensorType::f16, TensorType::bf16,
                                         TensorType::q8_0, TensorType::q4_0, TensorType::q4_1,
                                         TensorType::q5_0, TensorType::q5_1, TensorType::q2_k,
                                         TensorType::q3_k, TensorType::q4_k, TensorType::q5_k,
                                         TensorType::q6_k, TensorType::iq4_nl, TensorType::mxfp4),
                         [](const auto& row) { return std::string(gguf::to_string(row.param)); });

}  // namespace
}  // namespace weft::kernels
