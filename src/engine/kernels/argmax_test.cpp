// The best token of rows of logits: the first of equals, tiles that are not full, and the log-probability that goes with it.
#include "engine/kernels/argmax.h"

#include <algorithm>
#include <cmath>

#include "engine/kernels/test_device.h"

namespace weft::kernels {
namespace {

class ArgmaxTest : public test::KernelTest {};

TEST_F(ArgmaxTest, FindsTheFirstOfTheBest) {
  for (const std::uint32_t vocabulary : {1u, 512u, 2048u, 2049u, 150'001u}) {
    constexpr std::uint32_t rows = 3;
    std::vector<float> logits = test::random_floats(std::size_t{rows} * vocabulary, vocabulary, 5);
    logits[0] = logits[vocabulary - 1] = 30;                                                      // Equals at both ends.
    logits[std::size_t{vocabulary} + vocabulary / 2] = 40;                                        // In the middle.
    for (std::uint32_t i = 0; i < vocabulary; ++i) logits[std::size_t{2} * vocabulary + i] = -1;  // All equal.
    const gpu::Buffer logits_buffer = upload(logits), tiles = upload(std::vector<TileBest>(rows * argmax_tiles(vocabulary))),
                      drawn = upload(std::vector<GpuDrawn>(rows));
    const gpu::Pipeline tile = compile(argmax_tiles_pipeline(vocabulary)), pick = compile(argmax_pick_pipeline(vocabulary));
    const gpu::BindGroup tile_group = device().create_bind_group(tile, 0, {{0, logits_buffer}, {1, tiles}});
    const gpu::BindGroup pick_group = device().create_bind_group(pick, 0, {{0, tiles}, {1, drawn}});

    run(tile, {&tile_group}, {.x = argmax_tiles(vocabulary), .y = rows, .z = 1});
    run(pick, {&pick_group}, {.x = rows, .y = 1, .z = 1});

    const auto got = download<GpuDrawn>(drawn, rows);
    for (std::size_t row = 0; row < rows; ++row) {
      const auto begin = logits.begin() + static_cast<std::ptrdiff_t>(row * vocabulary), end = begin + vocabulary;
      const auto best = std::max_element(begin, end);
      double sum = 0;
      for (auto logit = begin; logit != end; ++logit) sum += std::exp(static_cast<double>(*logit) - *best);
      EXPECT_EQ(got[row].token, static_cast<std::uint32_t>(best - begin)) << vocabulary;
      // A sum of 150,000 terms in 256 * 74 parts, and exp() and log() with a few units of error.
      EXPECT_NEAR(got[row].logprob, -std::log(sum), 2e-5) << vocabulary;
    }
  }
}

}  // namespace
}  // namespace weft::kernels
