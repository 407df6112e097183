// The tiles of convolutions that were measured to be best on one device. They are kept by node and
// shape and never depend on the rest of the graph, so that a node gives the same bits in every
// graph.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/onnx/gpu/convolution_tiles.h"
#include "engine/onnx/operators/window.h"

namespace weft::onnx {

struct MatrixUnit;

class ConvolutionChoices {
 public:
  // Returns the key of a convolution: "1 3 640x640 > 16 320x320, 6x6 ...". `halves` is
  // KernelContext::halves.
  [[nodiscard]] static std::string key_of(const ConvolutionPlan& plan, bool halves = false);
  [[nodiscard]] std::optional<ConvolutionTiles> find(const std::string& key) const;
  void set(const std::string& key, const ConvolutionTiles& tiles) { tiles_[key] = tiles; }

  // Writes one line for each choice. from_text() ignores lines that it cannot read, such as lines
  // of another version.
  [[nodiscard]] std::string to_text() const;
  [[nodiscard]] static ConvolutionChoices from_text(std::string_view text);

 private:
  std::map<std::string, ConvolutionTiles> tiles_;
};

// Returns the tiles that are worth measuring for a convolution. The first is used without a
// measurement. `matrices` is KernelContext::matrices.
[[nodiscard]] std::vector<ConvolutionTiles> convolution_candidates(
    const ConvolutionPlan& plan, const MatrixUnit* matrices = nullptr);

}  // namespace weft::onnx
