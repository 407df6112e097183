#include "engine/onnx/gpu/convolution_choices.h"

#include <algorithm>
#include <charconv>

#include "engine/onnx/gpu/convolution_matrices.h"
#include "engine/onnx/gpu/convolution_rows.h"

namespace weft::onnx {
namespace {

constexpr std::size_t lines_max = 100'000;
constexpr std::size_t candidates_max = 24;
constexpr std::string_view in_rows = "rows ";          // Prefix of a choice with `rows`.
constexpr std::string_view in_matrices = "matrices ";  // Prefix of a choice's `depth`.

// Reads a number and the blank after it, and removes both from the beginning of the line. Returns
// false, with the line unchanged, if the line does not begin with a number and a blank.
bool read_number(std::string_view& line, std::int64_t& number) {
  const auto read = std::from_chars(line.data(), line.data() + line.size(), number);
  const auto length = static_cast<std::size_t>(read.ptr - line.data());
  if (read.ec != std::errc() || length >= line.size() || line[length] != ' ') return false;
  line.remove_prefix(length + 1);
  return true;
}

// Adds tiles with `rows` whose number of threads is near the number that a large GPU runs at once.
void add_rows(const ConvolutionPlan& plan, std::int64_t outputs,
              std::vector<ConvolutionTiles>& out) {
  constexpr std::int64_t threads_least = 1 << 13, threads_most = 1 << 18;
  for (const std::int64_t channels : {8, 16, 4})
    for (const std::int64_t places : {4, 8})
      for (std::int64_t slices = 1; slices <= 32; slices *= 2) {
        const ConvolutionTiles tiles{
            .places = places, .channels = channels, .slices = slices, .rows = true};
        const std::int64_t blocks = (plan.channels_out + channels - 1) / channels;
        const std::int64_t threads = outputs / places * blocks * slices;
        const bool is_only = slices == 1 && threads > threads_most;
        if (can_be_cut(tiles) && (channels <= plan.channels_out || channels == 4) &&
            slices <= plan.channels_in &&
            (is_only || (threads >= threads_least && threads <= threads_most)))
          out.push_back(tiles);
      }
}

std::string sizes_text(const std::vector<std::int64_t>& sizes) {
  std::string out;
  for (const std::int64_t size : sizes) {
    if (!out.empty()) out += "x";
    out += std::to_string(size);
  }
  return out;
}

}  // namespace

std::string ConvolutionChoices::key_of(const ConvolutionPlan& plan, bool halves) {
  const Window& w = plan.window;
  return weft::format("{}{} {} {} {} > {} {}, {} by {}, {} from {}", halves ? "f16 " : "",
                      plan.batch, plan.groups, plan.channels_in, sizes_text(w.input),
                      plan.channels_out, sizes_text(w.output), sizes_text(w.kernel),
                      sizes_text(w.strides), sizes_text(w.dilations), sizes_text(w.pads_before));
}

std::optional<ConvolutionTiles> ConvolutionChoices::find(const std::string& key) const {
  const auto found = tiles_.find(key);
  return found == tiles_.end() ? std::nullopt : std::optional(found->second);
}

std::string ConvolutionChoices::to_text() const {
  std::string out;
  for (const auto& [key, tiles] : tiles_) {
    std::string way(tiles.rows ? in_rows : "");
    if (tiles.depth > 0) way = weft::format("{}{} ", in_matrices, tiles.depth);
    out += weft::format("{} {} {} {}{}\n", tiles.places, tiles.channels, tiles.slices, way, key);
  }
  return out;
}

ConvolutionChoices ConvolutionChoices::from_text(std::string_view text) {
  ConvolutionChoices out;
  while (!text.empty() && out.tiles_.size() < lines_max) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ConvolutionTiles tiles;
    bool fits = read_number(line, tiles.places) && read_number(line, tiles.channels) &&
                read_number(line, tiles.slices);
    if (fits && line.starts_with(in_rows)) {
      tiles.rows = true;
      line.remove_prefix(in_rows.size());
    } else if (fits && line.starts_with(in_matrices)) {
      line.remove_prefix(in_matrices.size());
      fits = read_number(line, tiles.depth) && tiles.depth > 0;
    }
    if (fits && can_be_cut(tiles)) out.tiles_[std::string(line)] = tiles;
  }
  return out;
}

std::vector<ConvolutionTiles> convolution_candidates(const ConvolutionPlan& plan,
                                                     const MatrixUnit* matrices) {
  const std::int64_t outputs = plan.batch * plan.groups;
  std::int64_t places = 1;
  for (const std::int64_t size : plan.window.output) places *= size;
  const ConvolutionTiles usual =
      convolution_tiles(outputs * places, plan.channels_in, plan.channels_out);
  std::vector<ConvolutionTiles> out = {usual};
  for (const std::int64_t channels : {usual.channels, std::int64_t{16}, std::int64_t{4}})
    for (const std::int64_t p :
         {usual.places, usual.places * 2, usual.places / 2, usual.places * 4})
      for (const std::int64_t s : {usual.slices, usual.slices * 2, usual.slices / 2}) {
        const ConvolutionTiles tiles{.places = p, .channels = channels, .slices = s};
        if (out.size() < candidates_max && can_be_cut(tiles) && p <= places &&
            (channels <= plan.channels_out || channels == 4) && s <= plan.channels_in &&
            !std::ranges::contains(out, tiles))
          out.push_back(tiles);
      }
  if (can_be_in_rows(plan)) add_rows(plan, outputs * places, out);
  if (matrices != nullptr) {
    const std::vector<ConvolutionTiles> more = matrix_candidates(plan, *matrices);
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

}  // namespace weft::onnx
