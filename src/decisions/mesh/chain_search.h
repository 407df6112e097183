// The search behind plan_chain(), on numbers alone. A problem's nodes are sorted: node 0 is the
// fastest.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace weft::mesh {

struct ChainProblem {
  // How many layers a node can hold, by its place in the chain.
  struct Room {
    std::uint32_t middle = 0;
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::uint32_t alone = 0;  // First and last.
  };

  std::uint32_t layers = 0;
  std::uint32_t min_shards = 1;
  std::uint32_t max_shards = 1;
  double last_work_layers = 0;
  std::vector<double> layer_seconds{};  // Ascending.
  std::vector<Room> rooms{};
  std::vector<double> hop_seconds{};   // [from][to]; infinite: not this link.
  std::vector<double> back_seconds{};  // [last][first]

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
  std::vector<std::uint32_t> order{};   // Nodes.
  std::vector<std::uint32_t> layers{};  // Layers of each node.
  double seconds = std::numeric_limits<double>::infinity();
};

// The chain with the least sum, by trying every set of nodes: O(2^n n^3). At most 16 nodes.
[[nodiscard]] std::optional<Chain> search_exactly(const ChainProblem& problem);

// A good chain among at most search_nodes_max nodes: seeds (every node alone, the greatest rooms,
// the fastest nodes and, where `over_layers` is set, the dynamic programme over layers) improved by
// moves of one or two nodes until none helps or chains of `visits_max` nodes have been looked at.
// Nothing where it finds no chain that fits.
struct SearchEffort {
  bool over_layers = true;
  std::size_t visits_max = 400'000;  // Nodes of the chains looked at.
  bool any = false;                  // The first chain that fits will do.
};
[[nodiscard]] std::optional<Chain> search_well(const ChainProblem& problem,
                                               const SearchEffort& effort);

}  // namespace weft::mesh
