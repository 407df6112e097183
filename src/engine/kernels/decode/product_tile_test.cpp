// Tiles give each row the bits that it has alone (decision 10): for every format with quants, for
// numbers of rows that do not fill a tile, with shared columns and without, for rounded and normed
// input.
#include "engine/kernels/decode/product_tile.h"

#include <cmath>

#include "common/base/format.h"
#include "engine/kernels/test_device.h"
#include "engine/kernels/test_weights.h"

namespace weft::kernels {
namespace {

using gguf::TensorType;
using Input = Int8ProductSpec::Input;
using Output = Int8ProductSpec::Output;

// A multiple of the tiles' rows, because buffers hold whole tiles.
constexpr std::uint32_t rows_max = 32;

class ProductTileTest : public test::KernelTest, public testing::WithParamInterface<TensorType> {
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
  static bool packed() { return device().has("packed_4x8_integer_dot_product"); }
  static std::uint32_t columns_of(bool many) {
    if (gguf::info(GetParam()).block_elements == 32) return many ? 1152 : 96;
    return many ? 2816 : 256;
  }

  // The input rows, which are the same for both kernels.
  struct Rows {
    gpu::Buffer x, gain, quants, scales, factors;
  };
  static Rows make_rows(std::uint32_t columns, std::uint32_t workgroup) {
    Rows out{upload(test::random_floats(std::size_t{rows_max} * columns, columns, 3)),
             upload(test::random_floats(columns, 9)),
             upload(std::vector<std::uint32_t>(std::size_t{rows_max} * columns / 4)),
             upload(std::vector<float>(std::size_t{rows_max} * columns / 8)),
             upload(std::vector<float>(rows_max))};
    const gpu::Pipeline pipeline = compile(
        norm_rows_pipeline({.columns = columns, .epsilon = 1e-5f}, Team::of(device()), workgroup));
    const gpu::BindGroup to = device().create_bind_group(
                             pipeline, 0, {{0, out.quants}, {1, out.scales}, {2, out.factors}}),
                         from =
                             device().create_bind_group(pipeline, 1, {{0, out.x}, {1, out.gain}});
    run(pipeline, {&to, &from}, norm_quantize_workgroups(rows_max));
    return out;
  }
  static gpu::BindGroup bind(const gpu::Pipeline& pipeline, const Rows& rows, Input input,
                             std::vector<gpu::BoundBuffer> out) {
    const bool norm = input == Input::norm;
    out.push_back({0, norm ? rows.x : rows.quants});
    out.push_back({1, norm ? rows.gain : rows.scales});
    if (input == Input::normed) out.push_back({5, rows.factors});
    return device().create_bind_group(pipeline, 1, out);
  }
};

TEST_P(ProductTileTest, GivesEachRowItsOwnBits) {
  const Team team = Team::of(device());
  constexpr std::uint32_t weight_rows = 37;
  const std::uint32_t workgroup = team.size * 4;
  for (const bool many : {false, true}) {
    const std::uint32_t columns = columns_of(many);
    const test::Matrix matrix = test::random_matrix(GetParam(), weight_rows, columns);
    const OnGpu weights = upload_weights(matrix);
    const Rows rows = make_rows(columns, workgroup);
    const std::vector<float> bias = test::random_floats(weight_rows, 4);
    const gpu::Buffer bias_buffer = upload(bias);
    for (const Input input : {Input::norm, Input::quantized}) {
      for (const ProductTile tile : {ProductTile{4, 8, 2, 1}, ProductTile{2, 4, 1, 2}}) {
        const bool accumulate = input == Input::quantized;
        Int8ProductSpec spec{.format = weight_format(matrix.type),
                             .weight_rows = weight_rows,
                             .columns = columns,
                             .input = input,
                             .output = accumulate ? Output::accumulate : Output::store,
                             .y_pitch = weight_rows + 3,
                             .y_offset = 2,
                             .bias = !accumulate,
                             .epsilon = 1e-5f,
                             .share = many ? 2u : 1u};
        const std::uint32_t count = tile.rows + 3;
        const std::vector<float> before(std::size_t{count} * spec.y_pitch, 0.25f);
        const gpu::Buffer single = upload(before), tiled = upload(before),
                          size = uniform({.rows = count, .segments = count});
        const gpu::Pipeline one = compile(int8_product_pipeline(spec, team, workgroup, packed()));
        const gpu::BindGroup one_weights = device().create_bind_group(
                                 one, 0, {{0, weights.quants}, {1, weights.scales}}),
                             one_rows =
                                 bind(one, rows, input, {{2, single}, {3, bias_buffer}, {4, size}});
        run(one, {&one_weights, &one_rows}, int8_product_workgroups(spec, team, workgroup, count));
        if (input == Input::norm) spec.input = Input::normed;
        if (!product_tile_possible(device(), spec, tile, team))
          GTEST_SKIP() << "not on this device";
        const gpu::Pipeline pipeline = compile(product_tile_pipeline(spec, tile, team, packed()));
        const gpu::BindGroup weights_group = device().create_bind_group(
                                 pipeline, 0, {{0, weights.quants}, {1, weights.scales}}),
                             rows_group = bind(pipeline, rows, spec.input,
                                               {{2, tiled}, {3, bias_buffer}, {4, size}});

        run(pipeline, {&weights_group, &rows_group}, product_tile_workgroups(spec, tile, count));

        const auto expected = download<std::uint32_t>(single, before.size()),
                   got = download<std::uint32_t>(tiled, before.size());
        for (std::size_t i = 0; i < expected.size(); ++i)
          ASSERT_EQ(got[i], expected[i]) << weft::format("{} columns, row {}, at {}", columns,
                                                         i / spec.y_pitch, i % spec.y_pitch);
      }
    }
  }
}

TEST_P(ProductTileTest, GatesWithTheSameBits) {
  const Team team = Team::of(device());
  constexpr std::uint32_t width = 64, count = 11;
  const std::uint32_t columns = columns_of(true), workgroup = team.size * 8;
  const test::Matrix matrix = test::random_matrix(GetParam(), 2 * width, columns);
  const OnGpu weights = upload_weights(matrix);
  const Rows rows = make_rows(columns, workgroup);
  Int8ProductSpec spec{.format = weight_format(matrix.type),
                       .weight_rows = 2 * width,
                       .columns = columns,
                       .input = Input::norm,
                       .output = Output::swiglu,
                       .epsilon = 1e-5f,
                       .rows_each = 2};
  const ProductTile tile{.weights = 8, .rows = 8, .teams_across = 8, .teams_down = 1};
  const auto outputs = [&] {
    return std::pair(upload(std::vector<std::uint32_t>(std::size_t{rows_max} * width / 4)),
                     upload(std::vector<std::uint32_t>(std::size_t{rows_max} * width / 8)));
  };
  if (!int8_product_possible(device(), spec, team, workgroup)) GTEST_SKIP() << "not on this device";
  const auto single = outputs(), tiled = outputs();
  const gpu::Pipeline one = compile(int8_product_pipeline(spec, team, workgroup, packed()));
  const gpu::BindGroup one_weights = device().create_bind_group(
                           one, 0, {{0, weights.quants}, {1, weights.scales}}),
                       one_rows =
                           bind(one, rows, Input::norm, {{2, single.first}, {3, single.second}});
  run(one, {&one_weights, &one_rows}, int8_product_workgroups(spec, team, workgroup, count));
  spec.input = Input::normed;
  if (!product_tile_possible(device(), spec, tile, team)) GTEST_SKIP() << "not on this device";
  const gpu::Pipeline pipeline = compile(product_tile_pipeline(spec, tile, team, packed()));
  const gpu::BindGroup weights_group = device().create_bind_group(
                           pipeline, 0, {{0, weights.quants}, {1, weights.scales}}),
                       rows_group = bind(pipeline, rows, Input::normed,
                                         {{2, tiled.first}, {3, tiled.second}});

  run(pipeline, {&weights_group, &rows_group}, product_tile_workgroups(spec, tile, count));

  for (const bool scales : {false, true}) {
    const std::size_t words = std::size_t{count} * width / (scales ? 8 : 4);
    const auto expected = download<std::uint32_t>(scales ? single.second : single.first, words),
               got = download<std::uint32_t>(scales ? tiled.second : tiled.first, words);
    EXPECT_EQ(got, expected) << (scales ? "scales" : "quants");
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, ProductTileTest,
                         testing::Values(TensorType::q8_0, TensorType::q4_0, TensorType::q5_1,
                                         TensorType::q4_k, TensorType::q6_k),
                         [](const auto& row) { return std::string(gguf::to_string(row.param)); });

}  // namespace
}  // namespace weft::kernels
