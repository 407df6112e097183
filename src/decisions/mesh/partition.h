// One interface for the strategies that cut one piece of work between workers:
//
// - layer: a chain of shards (chain_plan.h); every item passes through all of them.
// - batch: the whole model on each worker; the items are shared out.
// - spatial: an image in tiles with halos (tiles.h); the whole model on each worker.
// - hybrid: several chains, as for layer, with the items shared out between them, as for batch.
//
// Every part names its worker, its layers, its items and its tile. Together the parts cover all
// layers of all items (or of the whole image) exactly once.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/base/result.h"
#include "decisions/mesh/chain_plan.h"
#include "decisions/mesh/latency.h"
#include "decisions/mesh/tiles.h"

namespace weft::mesh {

enum class Strategy : std::uint8_t { layer, batch, spatial, hybrid };

struct Work {
  Model model;
  std::uint32_t items = 1;  // The number of prompts or images.
  // The input image, and the windows that slide over it. Used only by `spatial`.
  Image image{};
  std::vector<Window> windows{};
};

struct Part {
  std::string node;
  std::uint32_t chain = 0;  // The parts of one chain pass items on, in the order of their layers.
  std::uint32_t begin = 0;  // The first layer; `end` is the layer after the last.
  std::uint32_t end = 0;
  std::uint32_t first_item = 0;
  std::uint32_t items = 0;
  std::optional<Tile> tile{};
};

struct Partition {
  Strategy strategy = Strategy::layer;
  std::vector<Part> parts;
  // Seconds until the last part is done, for one pass of every item (a token each, or an image).
  double seconds = 0;
};

// The best partition of the work by the strategy. Fails with the errors of plan_chain() and
// tiles(), and with invalid_argument if there are no items, or several items for `spatial`.
[[nodiscard]] Result<Partition> partition(Strategy strategy, const Work& work,
                                          std::span<const Node> nodes, const Latency& latency,
                                          const PlanOptions& options = {});

}  // namespace weft::mesh
