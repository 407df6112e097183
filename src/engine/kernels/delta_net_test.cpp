// The parts of a DeltaNet layer give the reference's values: for several segments at once, for one
// row and for many rows, and for a state that is continued in the next pass.
#include "engine/kernels/delta_net.h"

#include <cmath>

#include "engine/kernels/reference/activation.h"
#include "engine/kernels/reference/delta_net.h"
#include "engine/kernels/reference/norm.h"
#include "engine/kernels/test_device.h"

namespace weft::kernels {
namespace {

using test::random_floats;

class DeltaNetTest : public test::KernelTest {
 protected:
  // Two segments: five rows of slot 1, then one row of slot 0.
  const std::vector<Segment> segments = {{.slot = 1, .first_row = 0, .rows = 5},
                                         {.slot = 0, .first_row = 5, .rows = 1}};
  static std::vector<RowPlace> places(const std::vector<Segment>& all) {
    std::vector<RowPlace> out;
    for (const Segment& segment : all) {
      for (std::uint32_t i = 0; i < segment.rows; ++i)
        out.push_back({.slot = segment.slot, .position = i, .run = i});
    }
    return out;
  }
};

TEST_F(DeltaNetTest, ConvolvesAndRemembersAsTheReferenceDoes) {
  for (const std::uint32_t taps : {2u, 4u, 8u}) {
    const ConvolveSpec spec{.channels = 70, .taps = taps, .pitch = 75};
    const std::vector<float> x = random_floats(std::size_t{6} * spec.pitch, taps),
                             weight = random_floats(std::size_t{spec.channels} * taps, 2);
    std::vector<float> history = random_floats(std::size_t{2} * spec.channels * (taps - 1), 3);
    const gpu::Buffer x_buffer = upload(x), weight_buffer = upload(weight),
                      history_buffer = upload(history), places_buffer = upload(places(segments));
    const gpu::Buffer segments_buffer = upload(segments),
                      out = upload(std::vector<float>(std::size_t{6} * spec.channels)),
                      size = uniform({.rows = 6, .segments = 2});
    const gpu::Pipeline convolve = compile(convolve_pipeline(spec)),
                        remember = compile(remember_pipeline(spec));
    const gpu::BindGroup convolve_group = device().create_bind_group(convolve, 0,
                                                                     {{0, x_buffer},
                                                                      {1, weight_buffer},
                                                                      {2, history_buffer},
                                                                      {3, places_buffer},
                                                                      {4, out},
                                                                      {5, size}});
    const gpu::BindGroup remember_group = device().create_bind_group(
        remember, 0,
        {{0, x_buffer}, {1, history_buffer}, {2, segments_buffer}, {3, places_buffer}});

    run(convolve, {&convolve_group}, convolve_workgroups(spec, 6));
    run(remember, {&remember_group}, remember_workgroups(spec, 2));

    std::vector<float> expected;
    for (const Segment& segment : segments) {
      const std::span<float> past =
          std::span(history).subspan(std::size_t{segment.slot} * spec.channels * (taps - 1),
                                     std::size_t{spec.channels} * (taps - 1));
      for (std::uint32_t i = 0; i < segment.rows; ++i) {
        const auto from = x.begin() + std::ptrdiff_t{segment.first_row + i} * spec.pitch;
        std::vector<float> row(from, from + spec.channels);
        reference::convolve(row, past, weight, taps);
        expected.insert(expected.end(), row.begin(), row.end());
      }
    }
    // The error bound of sums of up to eight products of size up to 10, followed by silu.
    test::expect_close(download<float>(out, expected.size()), expected, 1e-5f, 1e-5f,
                       "convolution");
    EXPECT_EQ(download<float>(history_buffer, history.size()), history);
  }
}

TEST_F(DeltaNetTest, StepsAsTheReferenceDoes) {
  for (const bool subgroups : {true, false}) {
    const Team team = Team::of(device(), subgroups);
    for (const std::uint32_t dim : {20u, 64u, 128u}) {
      const DeltaStepSpec spec{.key_heads = 2,
                               .value_heads = 4,
                               .key_dim = dim,
                               .value_dim = dim,
                               .pitch = 10,
                               .alpha_offset = 1,
                               .beta_offset = 6,
                               .epsilon = 1e-6f};
      const std::size_t row = std::size_t{2} * 2 * dim + std::size_t{4} * dim;
      const std::vector<float> conv = random_floats(6 * row, dim),
                               x = random_floats(std::size_t{6} * spec.pitch, 4),
                               dt_bias = random_floats(4, 5);
      std::vector<float> a = random_floats(4, 6),
                         state = random_floats(std::size_t{2} * 4 * dim * dim, 7);
      for (float& value : a) value = -std::abs(value);
      const gpu::Buffer conv_buffer = upload(conv), x_buffer = upload(x),
                        dt_buffer = upload(dt_bias), a_buffer = upload(a),
                        state_buffer = upload(state);
      const gpu::Buffer segments_buffer = upload(segments),
                        out = upload(std::vector<float>(std::size_t{6} * 4 * dim));
      const gpu::Pipeline pipeline = compile(delta_step_pipeline(spec, team, 64));
      const gpu::BindGroup group = device().create_bind_group(pipeline, 0,
                                                              {{0, conv_buffer},
                                                               {1, x_buffer},
                                                               {2, dt_buffer},
                                                               {3, a_buffer},
                                                               {4, state_buffer},
                                                               {5, out},
                                                               {6, segments_buffer}});

      run(pipeline, {&group}, delta_step_workgroups(spec, team, 64, 2));

      std::vector<float> expected(std::size_t{6} * 4 * dim);
      for (const Segment& segment : segments) {
        for (std::size_t h = 0; h < 4; ++h) {
          // The GPU's state is [value][key]; the reference's is [key][value].
          const std::span<float> mine = std::span(state).subspan(
              (std::size_t{segment.slot} * 4 + h) * dim * dim, std::size_t{dim} * dim);
          std::vector<float> turned(std::size_t{dim} * dim);
          for (std::size_t v = 0; v < dim; ++v)
            for (std::size_t k = 0; k < dim; ++k) turned[k * dim + v] = mine[v * dim + k];
          for (std::size_t r = segment.first_row; r < segment.first_row + segment.rows; ++r) {
            const auto at = [&](std::size_t offset) {
              return conv.begin() + static_cast<std::ptrdiff_t>(r * row + offset);
            };
            std::vector<float> q(at(h % 2 * dim), at(h % 2 * dim + dim)),
                k(at((2 + h % 2) * dim), at((3 + h % 2) * dim));
            reference::l2_norm(q, spec.epsilon);
            reference::l2_norm(k, spec.epsilon);
            for (float& value : q) value /= std::sqrt(static_cast<float>(dim));
            const reference::DeltaStep step{
                .query = q,
                .key = k,
                .value = std::span(conv).subspan(r * row + (4 + h) * dim, dim),
                .decay =
                    std::exp(a[h] * reference::softplus(x[r * spec.pitch + 1 + h] + dt_bias[h])),
                .beta = reference::sigmoid(x[r * spec.pitch + 6 + h])};
            reference::delta_step(step, turned,
                                  std::span(expected).subspan((r * 4 + h) * dim, dim));
          }
          for (std::size_t v = 0; v < dim; ++v)
            for (std::size_t k = 0; k < dim; ++k) mine[v * dim + k] = turned[k * dim + v];
        }
      }
      // The error bound: five steps, each with three sums of `dim` products of numbers around 1,
      // have errors of dim * 2^-24 each, which decay.
      const float bound = 5 * 3 * static_cast<float>(dim) * 0x1p-24f + 2e-6f;
      test::expect_close(download<float>(out, expected.size()), expected, bound, 1e-5f, "output");
      test::expect_close(download<float>(state_buffer, state.size()), state, bound, 1e-5f, "state");
    }
  }
}

TEST_F(DeltaNetTest, NormsAndGatesAsTheReferenceDoes) {
  const GatedNormSpec spec{.heads = 3, .dim = 20, .pitch = 70, .offset = 7, .epsilon = 1e-6f};
  const std::vector<float> x = random_floats(2 * 60, 1),
                           gates = random_floats(std::size_t{2} * spec.pitch, 2),
                           weight = random_floats(20, 3);
  const gpu::Buffer x_buffer = upload(x), gates_buffer = upload(gates),
                    weight_buffer = upload(weight), out = upload(std::vector<float>(2 * 60));
  const gpu::Pipeline pipeline = compile(gated_norm_pipeline(spec));
  const gpu::BindGroup group = device().create_bind_group(
      pipeline, 0, {{0, x_buffer}, {1, gates_buffer}, {2, weight_buffer}, {3, out}});

  run(pipeline, {&group}, gated_norm_workgroups(spec, 2));

  std::vector<float> expected(2 * 60);
  for (std::size_t row = 0; row < 2; ++row) {
    for (std::size_t h = 0; h < 3; ++h) {
      const std::size_t from = row * 60 + h * 20;
      reference::rms_norm(std::span(x).subspan(from, 20), weight, spec.epsilon,
                          std::span(expected).subspan(from, 20));
      for (std::size_t i = 0; i < 20; ++i)
        expected[from + i] *= reference::silu(gates[row * spec.pitch + 7 + h * 20 + i]);
    }
  }
  // The error bound of a norm (16 units in the last place) and of exp() of numbers up to 4 (11 such
  // units).
  test::expect_close(download<float>(out, expected.size()), expected, 1e-7f, 40 * 0x1p-23f,
                     "gated norm");
}

}  // namespace
}  // namespace weft::kernels
