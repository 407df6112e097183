// How convolutions are cut on one device, as measured there: by node and shape, never by the graph
// around, so that a node gives the same bits wherever it is.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/onnx/gpu/convolution_tiles.h"
#include "engine/onnx/operators/window.h"

namespace weft::onnx {

class ConvolutionChoices {
 public:
  // "1 3 640x640 > 16 320x320, 6x6 ..."; `halves`: as KernelContext has it.
  [[nodiscard]] static std::string key_of(const ConvolutionPlan& plan, bool halves = false);
  [[nodiscard]] std::optional<ConvolutionTiles> find(const std::string& key) const;
  void set(const std::string& key, const ConvolutionTiles& tiles) { tiles_[key] = tiles; }

  // One line for each; what another version wrote and this one does not know is left out.
  [[nodiscard]] std::string to_text() const;
  [[nodiscard]] static ConvolutionChoices from_text(std::string_view text);

 private:
  std::map<std::string, ConvolutionTiles> tiles_;
};

// Worth measuring for a convolution; the first is what is taken without a measurement.
[[nodiscard]] std::vector<ConvolutionTiles> convolution_candidates(const ConvolutionPlan& plan);

}  // namespace weft::onnx
