#include "decisions/mesh/tiles.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/base/check.h"

namespace weft::mesh {
namespace {

std::uint64_t reach(const Window& window) {
  return std::uint64_t{window.dilation} * (window.kernel - 1) + 1;
}

std::uint32_t output_size(std::uint32_t input_size, const Window& window) {
  const std::uint64_t padded = std::uint64_t{input_size} + 2 * std::uint64_t{window.padding};
  if (input_size == 0 || padded < reach(window)) return 0;
  return static_cast<std::uint32_t>((padded - reach(window)) / window.stride + 1);
}

// The extent of a window's input that an output extent needs, cut at the edges of the input.
Extent input_of(Extent output, const Window& window, std::uint32_t size) {
  if (output.size() == 0) return {};
  const std::int64_t begin = std::int64_t{output.begin} * window.stride - window.padding;
  const std::int64_t end = (std::int64_t{output.end} - 1) * window.stride - window.padding +
                           static_cast<std::int64_t>(reach(window));
  const auto cut = [&](std::int64_t value) {
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(value, 0, size));
  };
  return {.begin = cut(begin), .end = cut(end)};
}

// Cuts a rectangle between the workers [first, last), in the proportion of their weights.
void cut(const Rectangle& whole, std::span<const double> weights,
         std::span<const std::size_t> workers, std::vector<Tile>& out) {
  if (workers.size() == 1 || whole.area() <= 1) {
    out.push_back({.worker = workers.front(), .output = whole, .input = {}});
    return;
  }
  const bool by_rows = whole.rows.size() >= whole.columns.size();
  const Extent side = by_rows ? whole.rows : whole.columns;
  const std::uint64_t across = by_rows ? whole.columns.size() : whole.rows.size();
  const auto weight_of = [&](std::span<const std::size_t> some) {
    return std::accumulate(some.begin(), some.end(), 0.0,
                           [&](double sum, std::size_t worker) { return sum + weights[worker]; });
  };
  const std::size_t half = workers.size() / 2;
  const double share = weight_of(workers.first(half)) / weight_of(workers);
  const auto ideal = static_cast<std::uint32_t>(std::lround(share * side.size()));
  // Each side of the cut gets at least one element, and one for each of its workers if there are
  // enough.
  const auto lines_for = [&](std::size_t count) {
    return static_cast<std::uint32_t>((count + across - 1) / across);
  };
  const std::uint32_t least = std::min(lines_for(half), side.size() - 1);
  const std::uint32_t most =
      std::max(side.size() - std::min(lines_for(workers.size() - half), side.size() - 1), least);
  const std::uint32_t lines = std::clamp(ideal, least, most);
  Rectangle first = whole;
  Rectangle second = whole;
  (by_rows ? first.rows : first.columns).end = side.begin + lines;
  (by_rows ? second.rows : second.columns).begin = side.begin + lines;
  cut(first, weights, workers.first(half), out);
  cut(second, weights, workers.subspan(half), out);
}

}  // namespace

std::uint32_t output_size(std::uint32_t input_size, std::span<const Window> windows) {
  for (const Window& window : windows) input_size = output_size(input_size, window);
  return input_size;
}

TileRange tile_range(Extent output, std::uint32_t input_size, std::span<const Window> windows) {
  TileRange range{.extents = std::vector<Extent>(windows.size() + 1), .sizes = {input_size}};
  for (const Window& window : windows)
    range.sizes.push_back(output_size(range.sizes.back(), window));
  check(output.begin <= output.end && output.end <= range.sizes.back(), "a range of the output");
  range.extents.back() = output;
  for (std::size_t i = windows.size(); i-- > 0;)
    range.extents[i] = input_of(range.extents[i + 1], windows[i], range.sizes[i]);
  return range;
}

Result<std::vector<Tile>> tiles(const Image& input, std::span<const Window> windows,
                                std::span<const double> weights) {
  for (const Window& window : windows) {
    if (window.kernel == 0 || window.stride == 0 || window.dilation == 0 ||
        window.padding >= reach(window)) {
      return fail(
          ErrorCode::invalid_argument,
          "A window of kernel {}, stride {}, padding {} and dilation {} is invalid: kernel, stride "
          "and dilation must be above 0 and padding below the window's size.",
          window.kernel, window.stride, window.padding, window.dilation);
    }
  }
  const Image output{.rows = output_size(input.rows, windows),
                     .columns = output_size(input.columns, windows)};
  if (output.rows == 0 || output.columns == 0)
    return fail(ErrorCode::invalid_argument,
                "An image of {} x {} is too small: nothing is left of it after {} windows.",
                input.rows, input.columns, windows.size());
  std::vector<std::size_t> workers;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!std::isfinite(weights[i]) || weights[i] < 0)
      return fail(ErrorCode::invalid_argument,
                  "Weight {} of the tiles is {}; it must be finite and not negative.", i,
                  weights[i]);
    if (weights[i] > 0) workers.push_back(i);
  }
  if (workers.empty()) return fail(ErrorCode::invalid_argument, "No worker has a weight above 0.");
  if (const std::uint64_t elements = std::uint64_t{output.rows} * output.columns;
      workers.size() > elements)
    workers.resize(elements);
  std::vector<Tile> out;
  cut({.rows = {0, output.rows}, .columns = {0, output.columns}}, weights, workers, out);
  for (Tile& tile : out) {
    tile.input = {
        .rows = tile_range(tile.output.rows, input.rows, windows).extents.front(),
        .columns = tile_range(tile.output.columns, input.columns, windows).extents.front()};
  }
  return out;
}

}  // namespace weft::mesh
