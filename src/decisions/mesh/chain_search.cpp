#include "decisions/mesh/chain_search.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <span>

#include "common/base/check.h"
#include "decisions/mesh/chain_plan.h"

namespace weft::mesh {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

// A set of nodes. The node with the least number is the fastest.
class NodeSet {
 public:
  void add(std::size_t node) { words_[node / 64] |= std::uint64_t{1} << (node % 64); }
  void remove(std::size_t node) { words_[node / 64] &= ~(std::uint64_t{1} << (node % 64)); }
  [[nodiscard]] bool has(std::size_t node) const {
    return (words_[node / 64] >> (node % 64) & 1) != 0;
  }
  // Calls `visit(node)` in order until it returns false.
  template <class Visit>
  void each(Visit visit) const {
    for (std::size_t word = 0; word < words_.size(); ++word) {
      for (std::uint64_t left = words_[word]; left != 0; left &= left - 1) {
        if (!visit(word * 64 + static_cast<std::size_t>(std::countr_zero(left)))) return;
      }
    }
  }

 private:
  std::array<std::uint64_t, search_nodes_max / 64> words_{};
};

// The computing time of a set of nodes between `first` and `last`. Each node has one layer, and the
// fastest nodes take the other layers as far as they have room. `missing` counts layers without
// room.
struct Computing {
  double seconds = 0;
  std::uint32_t missing = 0;
};
template <class Take>
Computing compute_on(const ChainProblem& problem, const NodeSet& nodes, std::uint32_t count,
                     std::size_t first, std::size_t last, Take take) {
  Computing result{.seconds = problem.last_work_layers * problem.layer_seconds[last]};
  if (count > problem.layers) return {.missing = count};
  std::uint32_t left = problem.layers - count;
  nodes.each([&](std::size_t node) {
    const std::uint32_t room = problem.room(node, node == first, node == last);
    if (room == 0) {
      ++result.missing;
      return true;
    }
    const std::uint32_t more = std::min(room - 1, left);
    left -= more;
    result.seconds += (1 + more) * problem.layer_seconds[node];
    take(node, 1 + more);
    return true;
  });
  result.missing += left;
  return result;
}

// The quality of an order of nodes: fewer faults are better (a fault is a layer without room, a
// missing link, or a shard too few or too many); for equal faults, less time.
struct Worth {
  std::uint32_t faults = std::numeric_limits<std::uint32_t>::max();
  double seconds = infinite;

  [[nodiscard]] bool better_than(const Worth& other) const {
    return faults != other.faults ? faults < other.faults : seconds < other.seconds * (1 - 1e-12);
  }
};

Worth worth_of(const ChainProblem& problem, std::span<const std::uint32_t> order) {
  if (order.empty()) return {};
  const auto count = static_cast<std::uint32_t>(order.size());
  NodeSet nodes;
  for (const std::uint32_t node : order) nodes.add(node);
  const Computing computing = compute_on(problem, nodes, count, order.front(), order.back(),
                                         [](std::size_t, std::uint32_t) {});
  Worth worth{.faults = computing.missing, .seconds = computing.seconds};
  if (count < problem.min_shards) worth.faults += problem.min_shards - count;
  if (count > problem.max_shards) worth.faults += count - problem.max_shards;
  const auto add = [&](double hop) {
    if (std::isfinite(hop)) {
      worth.seconds += hop;
    } else {
      ++worth.faults;
    }
  };
  for (std::size_t i = 1; i < order.size(); ++i) add(problem.hop(order[i - 1], order[i]));
  if (count > 1) add(problem.back(order.back(), order.front()));
  return worth;
}

Chain chain_of(const ChainProblem& problem, std::vector<std::uint32_t> order, double seconds) {
  NodeSet nodes;
  for (const std::uint32_t node : order) nodes.add(node);
  std::vector<std::uint32_t> layers(problem.nodes());
  compute_on(problem, nodes, static_cast<std::uint32_t>(order.size()), order.front(), order.back(),
             [&](std::size_t node, std::uint32_t taken) { layers[node] = taken; });
  Chain chain{.order = std::move(order), .seconds = seconds};
  for (const std::uint32_t node : chain.order) chain.layers.push_back(layers[node]);
  return chain;
}

// The paths of Held and Karp: paths_[(set * n) + last] is the shortest path from `first` through
// the set to `last`.
class PathsFrom {
 public:
  PathsFrom(const ChainProblem& problem, std::size_t first)
      : n_(problem.nodes()),
        seconds_((std::size_t{1} << n_) * n_, infinite),
        before_(seconds_.size(), 0) {
    seconds_[(std::size_t{1} << first) * n_ + first] = 0;
    for (std::size_t set = 0; set < std::size_t{1} << n_; ++set) {
      if ((set >> first & 1) == 0) continue;
      for (std::size_t from = 0; from < n_; ++from) {
        const double so_far = seconds_[set * n_ + from];
        if (!std::isfinite(so_far)) continue;
        for (std::size_t to = 0; to < n_; ++to) {
          if ((set >> to & 1) != 0) continue;
          const std::size_t next = (set | std::size_t{1} << to) * n_ + to;
          if (const double seconds = so_far + problem.hop(from, to); seconds < seconds_[next]) {
            seconds_[next] = seconds;
            before_[next] = static_cast<std::uint8_t>(from);
          }
        }
      }
    }
  }

  [[nodiscard]] double seconds(std::size_t set, std::size_t last) const {
    return seconds_[set * n_ + last];
  }
  [[nodiscard]] std::vector<std::uint32_t> order(std::size_t set, std::size_t last) const {
    std::vector<std::uint32_t> order;
    for (std::size_t node = last; set != 0;) {
      order.push_back(static_cast<std::uint32_t>(node));
      const std::size_t before = before_[set * n_ + node];
      set &= ~(std::size_t{1} << node);
      node = before;
    }
    std::ranges::reverse(order);
    return order;
  }

 private:
  std::size_t n_;
  std::vector<double> seconds_;
  std::vector<std::uint8_t> before_;
};

}  // namespace

std::optional<Chain> search_exactly(const ChainProblem& problem) {
  const std::size_t n = problem.nodes();
  check(n <= 16, "few enough nodes to try every set");
  Worth best{.faults = 0};
  std::vector<std::uint32_t> best_order;
  for (std::size_t first = 0; first < n; ++first) {
    const PathsFrom paths(problem, first);
    for (std::size_t set = 1; set < std::size_t{1} << n; ++set) {
      const auto count = static_cast<std::uint32_t>(std::popcount(set));
      if ((set >> first & 1) == 0 || count < problem.min_shards || count > problem.max_shards)
        continue;
      NodeSet nodes;
      for (std::size_t node = 0; node < n; ++node) {
        if ((set >> node & 1) != 0) nodes.add(node);
      }
      for (std::size_t last = 0; last < n; ++last) {
        if ((set >> last & 1) == 0 || (last == first) != (count == 1)) continue;
        const double hops = paths.seconds(set, last) + (count == 1 ? 0 : problem.back(last, first));
        if (!(hops < best.seconds)) continue;
        const Computing computing =
            compute_on(problem, nodes, count, first, last, [](std::size_t, std::uint32_t) {});
        const Worth worth{.faults = computing.missing, .seconds = computing.seconds + hops};
        // Among equal chains, the one with fewer shards is taken.
        const bool shorter = worth.faults == 0 && worth.seconds <= best.seconds * (1 + 1e-12) &&
                             count < best_order.size();
        if (worth.better_than(best) || shorter) {
          best = worth;
          best_order = paths.order(set, last);
        }
      }
    }
  }
  if (best_order.empty()) return std::nullopt;
  return chain_of(problem, std::move(best_order), best.seconds);
}

namespace {

// The best chain that ends at each node after each number of layers. A chain remembers its nodes,
// so that no node comes twice. Only one chain is kept for each end, so the result is a seed and not
// always the best chain. O(layers nodes^2).
class OverLayers {
 public:
  // Adds `toll` to the cost of every hop, which makes chains shorter.
  OverLayers(const ChainProblem& problem, double toll)
      : problem_(problem),
        n_(problem.nodes()),
        ends_((problem.layers + 1) * n_),
        starts_((problem.layers + 1) * n_) {
    for (std::size_t node = 0; node < n_; ++node) {
      starts_[node].seconds = 0;
      starts_[node].nodes.add(node);
    }
    for (std::uint32_t layer = 1; layer <= problem.layers; ++layer) {
      end_at(layer);
      if (layer < problem.layers) start_at(layer, toll);
    }
  }

  [[nodiscard]] std::vector<std::uint32_t> order() const {
    std::size_t best = 0;
    double least = infinite;
    for (std::size_t node = 0; node < n_; ++node) {
      const Cell& cell = ends_[problem_.layers * n_ + node];
      if (!std::isfinite(cell.seconds)) continue;
      const double seconds =
          cell.seconds + (cell.first == node ? 0 : problem_.back(node, cell.first));
      if (seconds < least) {
        least = seconds;
        best = node;
      }
    }
    std::vector<std::uint32_t> order;
    if (!std::isfinite(least)) return order;
    std::uint32_t layer = problem_.layers;
    for (std::size_t node = best;;) {
      order.push_back(static_cast<std::uint32_t>(node));
      layer = ends_[layer * n_ + node].from;
      if (layer == 0) break;
      node = starts_[layer * n_ + node].from;
    }
    std::ranges::reverse(order);
    return order;
  }

 private:
  struct Cell {
    double seconds = infinite;
    NodeSet nodes;
    std::uint32_t from =
        0;  // In ends_: the layer at which the node starts. In starts_: the previous node.
    std::uint32_t first = 0;
  };

  // Updates the chains whose last node has computed the layers before `layer`.
  void end_at(std::uint32_t layer) {
    const bool last = layer == problem_.layers;
    for (std::size_t node = 0; node < n_; ++node) {
      Cell& cell = ends_[layer * n_ + node];
      const double each = problem_.layer_seconds[node];
      const auto consider = [&](std::uint32_t start) {
        const double seconds = starts_[start * n_ + node].seconds + (layer - start) * each;
        if (seconds < cell.seconds) {
          cell.seconds = seconds;
          cell.from = start;
        }
      };
      const std::uint32_t room = problem_.room(node, false, last);
      for (std::uint32_t start = layer - std::min(room, layer - 1); start < layer; ++start)
        consider(start);
      if (layer <= problem_.room(node, true, last)) consider(0);
      if (!std::isfinite(cell.seconds)) continue;
      const Cell& start = starts_[cell.from * n_ + node];
      cell.nodes = start.nodes;
      cell.first = cell.from == 0 ? static_cast<std::uint32_t>(node) : start.first;
      if (last) cell.seconds += problem_.last_work_layers * each;
    }
  }

  // Updates the chains that have hopped to a node that is to begin with `layer`.
  void start_at(std::uint32_t layer, double toll) {
    Cell* starts = &starts_[layer * n_];
    for (std::size_t from = 0; from < n_; ++from) {
      const Cell& end = ends_[layer * n_ + from];
      if (!std::isfinite(end.seconds)) continue;
      const double* hops = &problem_.hop_seconds[from * n_];
      for (std::size_t to = 0; to < n_; ++to) {
        const double seconds = end.seconds + hops[to] + toll;
        if (seconds < starts[to].seconds && !end.nodes.has(to)) {
          starts[to].seconds = seconds;
          starts[to].from = static_cast<std::uint32_t>(from);
        }
      }
    }
    for (std::size_t to = 0; to < n_; ++to) {
      if (!std::isfinite(starts[to].seconds)) continue;
      const Cell& end = ends_[layer * n_ + starts[to].from];
      starts[to].nodes = end.nodes;
      starts[to].nodes.add(to);
      starts[to].first = end.first;
    }
  }

  const ChainProblem& problem_;
  std::size_t n_;
  std::vector<Cell> ends_;    // Cells by [layer][node].
  std::vector<Cell> starts_;  // Cells by [layer][node].
};

// A local search: tries moves of one or two nodes, and takes each that helps at once.
class LocalSearch {
 public:
  LocalSearch(const ChainProblem& problem, std::size_t visits_max, bool any)
      : problem_(problem), left_(visits_max), any_(any) {}

  // Improves `order` until no move helps or the visits are used up.
  Worth improve(std::vector<std::uint32_t>& order) {
    order_ = &order;
    worth_ = worth_of(problem_, order);
    if (any_ && worth_.faults == 0) return worth_;
    while (left_ > 0 && (remove() || replace() || insert() || exchange() || turn())) {
    }
    return worth_;
  }

 private:
  bool take_if_better() {
    if (left_ == 0) return false;
    left_ -= std::min(left_, trial_.size());
    const Worth worth = worth_of(problem_, trial_);
    if (!worth.better_than(worth_)) return false;
    worth_ = worth;
    *order_ = trial_;
    if (any_ && worth_.faults == 0) left_ = 0;
    return true;
  }
  [[nodiscard]] NodeSet used() const {
    NodeSet nodes;
    for (const std::uint32_t node : *order_) nodes.add(node);
    return nodes;
  }

  // True if links lead from the node before place `i` to `node`, and from it to the node at `next`.
  [[nodiscard]] bool linked(std::size_t i, std::uint32_t node, std::size_t next) const {
    return (i == 0 || std::isfinite(problem_.hop((*order_)[i - 1], node))) &&
           (next >= order_->size() || std::isfinite(problem_.hop(node, (*order_)[next])));
  }

  bool remove() {
    bool helped = false;
    for (std::size_t i = 0; i < order_->size() && order_->size() > 1;) {
      trial_ = *order_;
      trial_.erase(trial_.begin() + static_cast<std::ptrdiff_t>(i));
      if (take_if_better()) {
        helped = true;
      } else {
        ++i;
      }
    }
    return helped;
  }
  bool replace() {
    bool helped = false;
    for (std::size_t i = 0; i < order_->size(); ++i) {
      NodeSet in = used();
      for (std::uint32_t node = 0; node < problem_.nodes(); ++node) {
        if (in.has(node) || !linked(i, node, i + 1)) continue;
        trial_ = *order_;
        trial_[i] = node;
        if (take_if_better()) {
          helped = true;
          in = used();
        }
      }
    }
    return helped;
  }
  bool insert() {
    for (std::size_t i = 0; i <= order_->size(); ++i) {
      const NodeSet in = used();
      for (std::uint32_t node = 0; node < problem_.nodes(); ++node) {
        if (in.has(node) || !linked(i, node, i)) continue;
        trial_ = *order_;
        trial_.insert(trial_.begin() + static_cast<std::ptrdiff_t>(i), node);
        if (take_if_better()) return true;
      }
    }
    return false;
  }
  bool exchange() {
    bool helped = false;
    for (std::size_t i = 0; i + 1 < order_->size(); ++i) {
      for (std::size_t j = i + 1; j < order_->size(); ++j) {
        trial_ = *order_;
        std::swap(trial_[i], trial_[j]);
        if (take_if_better()) helped = true;
      }
    }
    return helped;
  }
  // Tries to reverse each stretch of the chain, and to move each node to another place.
  bool turn() {
    bool helped = false;
    for (std::size_t i = 0; i + 1 < order_->size(); ++i) {
      for (std::size_t j = i + 2; j < order_->size(); ++j) {
        const auto begin = static_cast<std::ptrdiff_t>(i);
        const auto end = static_cast<std::ptrdiff_t>(j) + 1;
        trial_ = *order_;
        std::reverse(trial_.begin() + begin, trial_.begin() + end);
        if (take_if_better()) helped = true;
        trial_ = *order_;
        std::rotate(trial_.begin() + begin, trial_.begin() + begin + 1, trial_.begin() + end);
        if (take_if_better()) helped = true;
        trial_ = *order_;
        std::rotate(trial_.begin() + begin, trial_.begin() + end - 1, trial_.begin() + end);
        if (take_if_better()) helped = true;
      }
    }
    return helped;
  }

  const ChainProblem& problem_;
  std::size_t left_;
  bool any_;
  std::vector<std::uint32_t>* order_ = nullptr;
  std::vector<std::uint32_t> trial_;
  Worth worth_;
};

// Gathers nodes, sorted by `before`, until all layers fit. Each node is put at the place where it
// makes the path longer by the least. A node without a link to its neighbours is left out.
template <class Before>
std::vector<std::uint32_t> gathered(const ChainProblem& problem, Before before) {
  std::vector<std::uint32_t> nodes(problem.nodes());
  std::iota(nodes.begin(), nodes.end(), 0U);
  std::ranges::stable_sort(nodes, before);
  std::vector<std::uint32_t> order;
  std::uint64_t held = 0;
  for (const std::uint32_t node : nodes) {
    if (order.size() == problem.max_shards) break;
    if (problem.rooms[node].middle == 0) continue;
    std::size_t place = 0;
    double least = infinite;
    for (std::size_t i = 0; i <= order.size(); ++i) {
      double longer = 0;
      if (i > 0) longer += problem.hop(order[i - 1], node);
      if (i < order.size()) longer += problem.hop(node, order[i]);
      if (i > 0 && i < order.size() && std::isfinite(longer))
        longer -= problem.hop(order[i - 1], order[i]);
      if (longer < least) {
        least = longer;
        place = i;
      }
    }
    if (!std::isfinite(least)) continue;
    order.insert(order.begin() + static_cast<std::ptrdiff_t>(place), node);
    held += problem.rooms[node].middle;
    if (held >= problem.layers && order.size() >= problem.min_shards &&
        worth_of(problem, order).faults == 0)
      break;
  }
  return order;
}

std::vector<std::uint32_t> best_alone(const ChainProblem& problem) {
  Worth best;
  std::vector<std::uint32_t> order;
  for (std::uint32_t node = 0; node < problem.nodes(); ++node) {
    if (const Worth worth = worth_of(problem, std::span(&node, 1)); worth.better_than(best)) {
      best = worth;
      order = {node};
    }
  }
  return order;
}

std::vector<std::uint32_t> best_over_layers(const ChainProblem& problem) {
  std::vector<std::uint32_t> order = OverLayers(problem, 0).order();
  // If the chain is too long, each hop gets a toll, which makes chains shorter: first the time of
  // one layer on the node of median speed, then eight times this time.
  double toll = problem.layer_seconds[problem.nodes() / 2];
  for (int attempt = 0; attempt < 2 && order.size() > problem.max_shards; ++attempt, toll *= 8)
    order = OverLayers(problem, toll).order();
  return order;
}

}  // namespace

std::optional<Chain> search_well(const ChainProblem& problem, const SearchEffort& effort) {
  const std::size_t n = problem.nodes();
  check(n <= search_nodes_max, "few enough nodes to search");
  if (n == 0) return std::nullopt;
  const auto by_room = [&](std::uint32_t a, std::uint32_t b) {
    return problem.rooms[a].middle > problem.rooms[b].middle;
  };
  const auto by_speed = [](std::uint32_t a, std::uint32_t b) { return a < b; };
  std::vector<std::vector<std::uint32_t>> seeds = {best_alone(problem), gathered(problem, by_room),
                                                   gathered(problem, by_speed)};
  if (effort.over_layers) seeds.push_back(best_over_layers(problem));
  std::erase_if(seeds, [](const auto& seed) { return seed.empty(); });
  std::ranges::stable_sort(seeds, [&](const auto& a, const auto& b) {
    return worth_of(problem, a).better_than(worth_of(problem, b));
  });

  Worth best;
  std::vector<std::uint32_t> best_order;
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    LocalSearch search(problem, effort.visits_max / seeds.size(), effort.any);
    const Worth worth = search.improve(seeds[i]);
    if (worth.better_than(best)) {
      best = worth;
      best_order = seeds[i];
    }
    if (effort.any && best.faults == 0) break;
  }
  if (best.faults > 0) return std::nullopt;
  return chain_of(problem, std::move(best_order), best.seconds);
}

}  // namespace weft::mesh
