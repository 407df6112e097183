// The recurrence over many rows equals the reference, which goes step by step: for several segments
// at once, for one row, for whole chunks and one row more, for a state that is continued in the
// next pass, with subgroups and without.
#include "engine/kernels/prefill/delta_chunk.h"

#include <cmath>

#include "common/base/format.h"
#include "engine/kernels/batch.h"
#include "engine/kernels/reference/activation.h"
#include "engine/kernels/reference/delta_net.h"
#include "engine/kernels/reference/norm.h"
#include "engine/kernels/test_device.h"

namespace weft::kernels {
namespace {

using test::random_floats;
class DeltaChunkTest : public test::KernelTest {};

TEST_F(DeltaChunkTest, EqualsTheReference) {
  const std::vector<Segment> segments = {{.slot = 1, .first_row = 0, .rows = 65},
                                         {.slot = 0, .first_row = 65, .rows = 1},
                                         {.slot = 2, .first_row = 66, .rows = 16}};
  constexpr std::size_t rows = 82, heads = 4, pitch = 10;
  struct Case {
    std::uint32_t dim, chunk;  // A chunk of 0 takes the tuning of the device.
  };
  for (const bool subgroups : {true, false}) {
    for (const auto& [dim, chunk] : {Case{20, 0}, {64, 0}, {128, 0}, {20, 1}, {20, 8}, {64, 4}}) {
      const DeltaStepSpec spec{.key_heads = 2,
                               .value_heads = heads,
                               .key_dim = dim,
                               .value_dim = dim,
                               .pitch = pitch,
                               .alpha_offset = 1,
                               .beta_offset = 6,
                               .epsilon = 1e-6f};
      SCOPED_TRACE(weft::format("{} wide, chunks of {}, subgroups {}", dim, chunk, subgroups));
      const std::size_t row = std::size_t{2} * 2 * dim + heads * dim;
      const std::vector<float> conv = random_floats(rows * row, dim),
                               x = random_floats(rows * pitch, 4),
                               dt_bias = random_floats(heads, 5);
      std::vector<float> a = random_floats(heads, 6),
                         state = random_floats(3 * heads * dim * dim, 7);
      for (float& value : a) value = -std::abs(value);
      const gpu::Buffer conv_buffer = upload(conv), x_buffer = upload(x),
                        dt_buffer = upload(dt_bias), a_buffer = upload(a),
                        state_buffer = upload(state);
      const gpu::Buffer segments_buffer = upload(segments),
                        out = upload(std::vector<float>(rows * heads * dim));
      DeltaChunkTuning tuning = delta_chunk_tuning(device(), spec, subgroups);
      if (chunk > 0) tuning.rows = chunk;
      const gpu::Pipeline pipeline = compile(delta_chunk_pipeline(spec, tuning));
      const gpu::BindGroup group = device().create_bind_group(pipeline, 0,
                                                              {{0, conv_buffer},
                                                               {1, x_buffer},
                                                               {2, dt_buffer},
                                                               {3, a_buffer},
                                                               {4, state_buffer},
                                                               {5, out},
                                                               {6, segments_buffer}});

      run(pipeline, {&group},
          delta_chunk_workgroups(spec, tuning, static_cast<std::uint32_t>(segments.size())));

      std::vector<float> expected(rows * heads * dim);
      for (const Segment& segment : segments) {
        for (std::size_t h = 0; h < heads; ++h) {
          // The GPU's state is [value][key]; the reference's is [key][value].
          const std::span<float> mine = std::span(state).subspan(
              (segment.slot * heads + h) * dim * dim, std::size_t{dim} * dim);
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
                .decay = std::exp(a[h] * reference::softplus(x[r * pitch + 1 + h] + dt_bias[h])),
                .beta = reference::sigmoid(x[r * pitch + 6 + h])};
            reference::delta_step(step, turned,
                                  std::span(expected).subspan((r * heads + h) * dim, dim));
          }
          for (std::size_t v = 0; v < dim; ++v)
            for (std::size_t k = 0; k < dim; ++k) mine[v * dim + k] = turned[k * dim + v];
        }
      }
      // The error bound: a step adds three sums of `dim` products of numbers around 1, with errors
      // of dim * 2^-24 each, to the state. Errors decay by at least a few percent in each row (a is
      // about -1, softplus about 0.7), so that the errors of a dozen rows are the bound.
      const float bound = 12 * 3 * static_cast<float>(dim) * 0x1p-24f + 4e-6f;
      test::expect_close(download<float>(out, expected.size()), expected, bound, 1e-5f, "output");
      test::expect_close(download<float>(state_buffer, state.size()), state, bound, 1e-5f, "state");
    }
  }
}

}  // namespace
}  // namespace weft::kernels
