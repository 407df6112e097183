// The search for plan_chain(), on numbers alone. A problem's nodes are sorted by speed: node 0 is
// the fastest.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace weft::mesh {

struct ChainProblem {
  // The number of layers that a node can hold, by its place in the chain.
  struct Room {
    std::uint32_t middle = 0;
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::uint32_t alone = 0;  // Layers that the node can take as the only shard.
  };

  std::uint32_t layers = 0;
  std::uint32_t min_shards = 1;
  std::uint32_t max_shards = 1;
  double last_work_layers = 0;
  std::vector<double> layer_seconds{};  // Seconds a layer of each node, ascending.
  std::vector<Room> rooms{};
  std::vector<double> hop_seconds{};  // Seconds by [from][to]; infinite: the link must not be used.
  std::vector<double> back_seconds{};  // Seconds of the token's way back, by [last][first].

  [[nodiscard]] std::size_t nodes() const { return rooms.size(); }
  [[nodiscard]] double hop(std::size_t from, std::size_t to) const {
    return hop_seconds[from * nodes() + to];
  }
  [[nodiscard]] double back(std::size_t last, std::size_t first) const {
    return back_seconds[last * nodes() + first];
  }
  [[nodiscard]] std::uint32_t room(std::size_t node, bool first, bool last) const {
    const Room& r = rooms[node];
    return first ? (last ? r.alone : r.first) : (last ? r.last : r.middle);
  }
};

struct Chain {
  std::vector<std::uint32_t> order{};   // Nodes in the order of the chain.
  std::vector<std::uint32_t> layers{};  // Number of layers of each node.
  double seconds = std::numeric_limits<double>::infinity();
};

// The chain with the least sum, found by trying every set of nodes: O(2^n n^3). At most 16 nodes.
[[nodiscard]] std::optional<Chain> search_exactly(const ChainProblem& problem);

// A good chain among at most search_nodes_max nodes; no value if none that fits is found. The
// search begins with seeds: every node alone, the nodes with the most room, the fastest nodes and,
// if `over_layers` is set, the result of the dynamic programme over layers. Moves of one or two
// nodes improve them until no move helps or `visits_max` nodes have been visited.
struct SearchEffort {
  bool over_layers = true;
  std::size_t visits_max = 400'000;  // Maximum number of nodes in all tried chains together.
  bool any = false;                  // True if the first chain that fits is enough.
};
[[nodiscard]] std::optional<Chain> search_well(const ChainProblem& problem,
                                               const SearchEffort& effort);

}  // namespace weft::mesh
