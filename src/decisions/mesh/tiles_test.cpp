// Tiles cover the output exactly. A stack of convolutions that runs on each tile's own input gives
// the values that it gives on the whole image.
#include "decisions/mesh/tiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace weft::mesh {
namespace {

using Pixels = std::vector<std::int64_t>;

// Computes one convolution with the weights 1, 2, 3, ... for the output rectangle `want`. Values
// outside of the layer are zero. Values that the layer has but the tile does not are unknown: they
// are a number that spoils every result.
Pixels convolved(const Pixels& in, const Rectangle& have, const Image& size, const Window& window,
                 const Rectangle& want) {
  constexpr std::int64_t unknown = std::int64_t{1} << 40;
  const auto at = [&](std::int64_t row, std::int64_t column) -> std::int64_t {
    if (row < 0 || column < 0 || row >= size.rows || column >= size.columns) return 0;
    if (row < have.rows.begin || row >= have.rows.end || column < have.columns.begin ||
        column >= have.columns.end)
      return unknown;
    return in[static_cast<std::size_t>((row - have.rows.begin) * have.columns.size() +
                                       (column - have.columns.begin))];
  };
  Pixels out;
  for (std::int64_t row = want.rows.begin; row < want.rows.end; ++row) {
    for (std::int64_t column = want.columns.begin; column < want.columns.end; ++column) {
      std::int64_t sum = 0;
      for (std::int64_t i = 0; i < window.kernel; ++i) {
        for (std::int64_t j = 0; j < window.kernel; ++j)
          sum += (i * window.kernel + j + 1) *
                 at(row * window.stride - window.padding + i * window.dilation,
                    column * window.stride - window.padding + j * window.dilation);
      }
      out.push_back(sum % 1009);
    }
  }
  return out;
}

// Runs all windows over the tile's input.
Pixels run(const Pixels& input, const Image& image, std::span<const Window> windows,
           const Rectangle& output) {
  const TileRange rows = tile_range(output.rows, image.rows, windows);
  const TileRange columns = tile_range(output.columns, image.columns, windows);
  const auto extent = [&](std::size_t i) {
    return Rectangle{.rows = rows.extents[i], .columns = columns.extents[i]};
  };
  Pixels values;
  for (std::uint32_t row = extent(0).rows.begin; row < extent(0).rows.end; ++row) {
    for (std::uint32_t column = extent(0).columns.begin; column < extent(0).columns.end; ++column)
      values.push_back(input[row * image.columns + column]);
  }
  for (std::size_t i = 0; i < windows.size(); ++i)
    values = convolved(values, extent(i), {.rows = rows.sizes[i], .columns = columns.sizes[i]},
                       windows[i], extent(i + 1));
  return values;
}

TEST(Tiles, HaveTheWholesNumbersAndCoverItExactly) {
  std::size_t compared = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
    const Image image{.rows = 1 + below(40), .columns = 1 + below(40)};
    std::vector<Window> windows;
    for (std::uint32_t i = below(4); i-- > 0;) {
      Window window{.kernel = 1 + below(5), .stride = 1 + below(3), .dilation = 1 + below(2)};
      window.padding = below(std::min(window.kernel, 3U));
      windows.push_back(window);
    }
    std::vector<double> weights(1 + below(9));
    for (double& weight : weights) weight = below(5) == 0 ? 0 : 0.1 + below(10);
    const auto cut = tiles(image, windows, weights);
    if (!cut) {
      const bool some = std::ranges::any_of(weights, [](double weight) { return weight > 0; });
      EXPECT_TRUE(!some || output_size(image.rows, windows) == 0 ||
                  output_size(image.columns, windows) == 0)
          << "seed " << seed << ": " << cut.error().message;
      continue;
    }
    Pixels input(std::size_t{image.rows} * image.columns);
    for (std::int64_t& pixel : input) pixel = below(256);
    const Rectangle all{.rows = {0, output_size(image.rows, windows)},
                        .columns = {0, output_size(image.columns, windows)}};
    const Pixels whole = run(input, image, windows, all);
    Pixels joined(whole.size(), -1);
    for (const Tile& tile : *cut) {
      EXPECT_GT(weights[tile.worker], 0);
      const Pixels part = run(input, image, windows, tile.output);
      std::size_t at = 0;
      for (std::uint32_t row = tile.output.rows.begin; row < tile.output.rows.end; ++row) {
        for (std::uint32_t column = tile.output.columns.begin; column < tile.output.columns.end;
             ++column) {
          std::int64_t& pixel = joined[row * all.columns.size() + column];
          EXPECT_EQ(pixel, -1) << "seed " << seed << ": two tiles have element " << row << ", "
                               << column;
          pixel = part[at++];
        }
      }
    }
    EXPECT_EQ(joined, whole) << "seed " << seed;
    compared += cut->size() > 1 ? 1 : 0;
  }
  EXPECT_GT(compared, 200U);
}

TEST(Tiles, AreAsLargeAsTheWeightsSay) {
  const std::vector<double> weights = {1, 2, 3, 2};

  const auto cut = tiles({.rows = 512, .columns = 512}, {}, weights).value();

  ASSERT_EQ(cut.size(), 4U);
  for (const Tile& tile : cut)
    EXPECT_NEAR(static_cast<double>(tile.output.area()) / (512 * 512), weights[tile.worker] / 8,
                0.005);
}

TEST(Tiles, NeedTheHaloOfTheReceptiveFieldAndNoMore) {
  // Three convolutions of 3 x 3 that keep the size: the input of a tile has three more elements on
  // each side, but none beyond the edge of the image.
  const std::vector<Window> windows(3, {.kernel = 3, .stride = 1, .padding = 1});

  const auto cut = tiles({.rows = 64, .columns = 16}, windows, std::vector<double>{1, 1}).value();

  ASSERT_EQ(cut.size(), 2U);
  EXPECT_EQ(cut[0].output, (Rectangle{{0, 32}, {0, 16}}));
  EXPECT_EQ(cut[0].input, (Rectangle{{0, 35}, {0, 16}}));
  EXPECT_EQ(cut[1].input, (Rectangle{{29, 64}, {0, 16}}));
}

TEST(Tiles, AreNoMoreThanThereAreElements) {
  EXPECT_EQ(tiles({.rows = 1, .columns = 3}, {}, std::vector<double>(8, 1.0)).value().size(), 3U);
  EXPECT_GE(tiles({.rows = 3, .columns = 3}, {}, std::vector<double>(9, 1.0)).value().size(), 6U);
  EXPECT_EQ(tiles({.rows = 64, .columns = 64}, {}, std::vector<double>(100, 1.0)).value().size(),
            100U);
}

TEST(Tiles, RefuseWhatIsNoImageOrNoWindow) {
  const std::vector<double> one = {1};
  const auto code = [](const auto& result) {
    return result.has_value() ? ErrorCode::internal : result.error().code;
  };

  EXPECT_EQ(code(tiles({.rows = 0, .columns = 4}, {}, one)), ErrorCode::invalid_argument);
  EXPECT_EQ(code(tiles({.rows = 4, .columns = 4}, std::vector<Window>{{.kernel = 5}}, one)),
            ErrorCode::invalid_argument);
  EXPECT_EQ(
      code(tiles({.rows = 4, .columns = 4}, std::vector<Window>{{.kernel = 3, .padding = 3}}, one)),
      ErrorCode::invalid_argument);
  EXPECT_EQ(code(tiles({.rows = 4, .columns = 4}, std::vector<Window>{{.stride = 0}}, one)),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code(tiles({.rows = 4, .columns = 4}, {}, std::vector<double>{0, 0})),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code(tiles({.rows = 4, .columns = 4}, {}, std::vector<double>{1, std::nan("")})),
            ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace weft::mesh
