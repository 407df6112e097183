// The kernels of encoders give the values of plain loops over a sweep of shapes: rows that do not
// fill a workgroup, widths of one and of odd numbers of fours, texts of one row.
#include <cmath>

#include "common/base/format.h"
#include "engine/kernels/encode/activate.h"
#include "engine/kernels/encode/layer_norm.h"
#include "engine/kernels/encode/pool_rows.h"
#include "engine/kernels/encode/turn_rows.h"
#include "engine/kernels/prefill/flash_attention.h"
#include "engine/kernels/reference/activation.h"
#include "engine/kernels/reference/attention.h"
#include "engine/kernels/test_device.h"

namespace weft::kernels {
namespace {

class EncodeTest : public test::KernelTest {
 protected:
  static gpu::BindGroup group(const gpu::Pipeline& pipeline,
                              std::initializer_list<gpu::BoundBuffer> buffers) {
    return device().create_bind_group(pipeline, 0, buffers);
  }
};

// The value after the rows of a pass, which no kernel may change.
constexpr float untouched = 7;
std::vector<float> with_more(std::vector<float> values, std::size_t more) {
  values.insert(values.end(), more, untouched);
  return values;
}
// Texts with these numbers of rows, each directly after the previous one.
struct Texts {
  std::vector<RowPlace> places;
  std::vector<Segment> segments;
};
Texts texts_of(const std::vector<std::uint32_t>& sizes) {
  Texts out;
  for (const std::uint32_t size : sizes) {
    const auto first = static_cast<std::uint32_t>(out.places.size());
    out.segments.push_back({.slot = first, .first_row = first, .rows = size});
    for (std::uint32_t i = 0; i < size; ++i)
      out.places.push_back({.slot = first, .position = i, .run = i, .segment_rows = size});
  }
  return out;
}

TEST_F(EncodeTest, LayerNormEqualsTheFormula) {
  const Texts texts = texts_of({5, 1, 31});
  const std::size_t rows = texts.places.size();
  const gpu::Buffer places = upload(texts.places),
                    size = uniform({.rows = static_cast<std::uint32_t>(rows)});
  for (const bool subgroups : {false, true}) {
    const Team team = Team::of(device(), subgroups);
    const std::uint32_t workgroup = team.size * 4;
    for (const std::uint32_t columns : {4u, 36u, 384u}) {
      for (const auto table : {LayerNormSpec::Table::none, LayerNormSpec::Table::positions,
                               LayerNormSpec::Table::one_row}) {
        SCOPED_TRACE(weft::format("{} columns, table {}, subgroups {}", columns,
                                  static_cast<int>(table), subgroups));
        const LayerNormSpec spec{.columns = columns, .epsilon = 1e-5f, .table = table};
        const auto x = test::random_floats(rows * columns, 1, 3),
                   weight = test::random_floats(columns, 2), bias = test::random_floats(columns, 3),
                   added = test::random_floats(31 * columns, 4);
        const gpu::Buffer buffer = upload(with_more(x, columns));
        const gpu::Pipeline pipeline = compile(layer_norm_pipeline(spec, team, workgroup));
        const auto bound = group(pipeline, {{0, buffer},
                                            {1, upload(weight)},
                                            {2, upload(bias)},
                                            {3, upload(added)},
                                            {4, places},
                                            {5, size}});

        run(pipeline, {&bound},
            layer_norm_workgroups(team, workgroup, static_cast<std::uint32_t>(rows)));

        std::vector<float> expected(rows * columns);
        for (std::size_t row = 0; row < rows; ++row) {
          const std::size_t from =
              table == LayerNormSpec::Table::positions ? texts.places[row].position * columns : 0;
          std::vector<double> values(columns);
          double mean = 0, variance = 0;
          for (std::size_t i = 0; i < columns; ++i) {
            values[i] = x[row * columns + i];
            if (table != LayerNormSpec::Table::none) values[i] += added[from + i];
            mean += values[i] / columns;
          }
          for (const double value : values) variance += (value - mean) * (value - mean) / columns;
          for (std::size_t i = 0; i < columns; ++i)
            expected[row * columns + i] = static_cast<float>(
                (values[i] - mean) / std::sqrt(variance + 1e-5) * weight[i] + bias[i]);
        }
        // The error bound of sums of 384 numbers in another order.
        test::expect_close(download<float>(buffer, (rows + 1) * columns),
                           with_more(expected, columns), 2e-5f, 2e-5f, "layer norm");
      }
    }
  }
}

TEST_F(EncodeTest, ActivationsAndRotationsEqualTheReference) {
  const Texts texts = texts_of({3, 9});
  const std::size_t rows = texts.places.size();
  const gpu::Buffer places = upload(texts.places),
                    size = uniform({.rows = static_cast<std::uint32_t>(rows)});
  const ActivateSpec activate{.columns = 36, .activation = Activation::gelu};
  const auto x = test::random_floats(rows * 36, 5, 2);
  const gpu::Buffer buffer = upload(with_more(x, 36));
  const gpu::Pipeline pipeline = compile(activate_pipeline(activate));
  const auto bound = group(pipeline, {{0, buffer}, {1, size}});

  run(pipeline, {&bound}, activate_workgroups(activate, static_cast<std::uint32_t>(rows)));

  std::vector<float> expected;
  for (const float value : x) expected.push_back(reference::gelu(value));
  test::expect_close(download<float>(buffer, (rows + 1) * 36), with_more(expected, 36), 1e-5f,
                     1e-5f, "gelu");

  const TurnRowsSpec turn{.heads = 3, .head_dim = 12, .pairs = 4, .pitch = 40};
  const auto heads = test::random_floats(rows * 40, 6);
  std::vector<float> turns;
  for (std::uint32_t position = 0; position < 9; ++position)
    for (std::uint32_t pair = 0; pair < 4; ++pair) {
      turns.push_back(std::cos(static_cast<float>(position * (pair + 1))));
      turns.push_back(std::sin(static_cast<float>(position * (pair + 1))));
    }
  const gpu::Buffer turned = upload(with_more(heads, 40));
  const gpu::Pipeline turning = compile(turn_rows_pipeline(turn));
  const auto turn_bound = group(turning, {{0, turned}, {1, places}, {2, upload(turns)}, {3, size}});

  run(turning, {&turn_bound}, turn_rows_workgroups(turn, static_cast<std::uint32_t>(rows)));

  std::vector<float> around = heads;
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t head = 0; head < 3; ++head)
      for (std::size_t pair = 0; pair < 4; ++pair) {
        const std::size_t at = row * 40 + head * 12 + pair,
                          t = (texts.places[row].position * 4 + pair) * 2;
        around[at] = heads[at] * turns[t] - heads[at + 4] * turns[t + 1];
        around[at + 4] = heads[at] * turns[t + 1] + heads[at + 4] * turns[t];
      }
  test::expect_close(download<float>(turned, (rows + 1) * 40), with_more(around, 40), 1e-5f, 1e-5f,
                     "turned");
}

TEST_F(EncodeTest, TextsBecomeVectorsOfLength1) {
  const Texts texts = texts_of({1, 7, 70});
  const std::size_t rows = texts.places.size(), columns = 132;
  const auto x = test::random_floats(rows * columns, 7);
  const gpu::Buffer in = upload(x), segments = upload(texts.segments);
  for (const auto way :
       {PoolRowsSpec::Way::mean, PoolRowsSpec::Way::first, PoolRowsSpec::Way::last}) {
    const PoolRowsSpec spec{.columns = columns, .way = way};
    const gpu::Buffer out = upload(with_more(std::vector<float>(3 * columns), columns));
    const gpu::Pipeline pipeline = compile(pool_rows_pipeline(spec));
    const auto bound = group(pipeline, {{0, in}, {1, segments}, {2, out}});

    run(pipeline, {&bound}, pool_rows_workgroups(3));

    std::vector<float> expected(3 * columns);
    for (std::size_t text = 0; text < 3; ++text) {
      const Segment& one = texts.segments[text];
      std::vector<double> values(columns);
      for (std::uint32_t row = 0; row < one.rows; ++row) {
        if (way == PoolRowsSpec::Way::first && row > 0) continue;
        if (way == PoolRowsSpec::Way::last && row + 1 < one.rows) continue;
        for (std::size_t i = 0; i < columns; ++i)
          values[i] += x[(one.first_row + row) * columns + i];
      }
      double squares = 0;
      for (const double value : values) squares += value * value;
      for (std::size_t i = 0; i < columns; ++i)
        expected[text * columns + i] = static_cast<float>(values[i] / std::sqrt(squares));
    }
    test::expect_close(download<float>(out, 4 * columns), with_more(expected, columns), 1e-5f,
                       1e-5f, weft::format("way {}", static_cast<int>(way)));
  }
}

TEST_F(EncodeTest, RowsOfATextSeeAllOfItAndNothingElse) {
  const Texts texts = texts_of({1, 17, 70});
  const std::uint32_t heads = 3;
  for (const std::uint32_t dim : {12u, 32u, 64u}) {
    const std::uint32_t width = heads * dim, pitch = 3 * width;
    const AttentionSpec spec{
        .cache = {.kv_heads = heads, .head_dim = dim},
        .heads = heads,
        .q_stride = dim,
        .pitch = pitch,
        .whole_texts = AttentionSpec::WholeTexts{.k_offset = width, .v_offset = 2 * width}};
    const std::size_t rows = texts.places.size();
    const auto qkv = test::random_floats(rows * pitch, 8, 2);
    const gpu::Buffer in = upload(qkv), places = upload(texts.places);
    for (const bool exact : {true, false}) {
      SCOPED_TRACE(weft::format("heads of {}, exact {}", dim, exact));
      const FlashTuning tuning = flash_tuning(device(), spec, exact);
      const auto tiles = attention_tiles(texts.segments, tuning);
      const gpu::Buffer out = upload(std::vector<float>((rows + 1) * width, untouched));
      const gpu::Pipeline pipeline = compile(flash_attention_pipeline(spec, tuning));
      const auto bound =
          group(pipeline, {{0, in}, {1, places}, {2, in}, {3, in}, {4, out}, {5, upload(tiles)}});

      run(pipeline, {&bound},
          flash_attention_workgroups(spec, static_cast<std::uint32_t>(tiles.size())));

      std::vector<float> expected(rows * width), scores(70);
      const float scale = 1 / std::sqrt(static_cast<float>(dim));
      for (const Segment& one : texts.segments)
        for (std::uint32_t row = 0; row < one.rows; ++row)
          for (std::uint32_t head = 0; head < heads; ++head) {
            const std::size_t at = std::size_t{one.first_row} * pitch + head * dim;
            reference::attention(
                {qkv.data() + at + row * pitch, dim}, {qkv.data() + at + width, pitch, one.rows},
                {qkv.data() + at + 2 * width, pitch, one.rows}, scale, scores,
                std::span(expected).subspan((one.first_row + row) * width + head * dim, dim));
          }
      // The kernel with subgroup matrices rounds scores of a size of about 10 to f16.
      const float tolerance = tuning.matrix_m == 0 ? 2e-5f : 3e-2f;
      test::expect_close(download<float>(out, (rows + 1) * width), with_more(expected, width),
                         tolerance, tolerance, "attention");
    }
  }
}

}  // namespace
}  // namespace weft::kernels
