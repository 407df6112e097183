// The cost of a hop between two workers: a time that does not depend on the size, and a rate.
// Workers are numbered as the nodes of a plan. Each directed pair has its own link, because uploads
// are slower than downloads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace weft::mesh {

struct Link {
  double seconds = 0;  // The one-way time; infinite if the two cannot reach each other.
  double bytes_per_s = std::numeric_limits<double>::infinity();

  // The time for which a message occupies the link, before the next one may follow.
  [[nodiscard]] double occupied_seconds(std::uint64_t bytes) const {
    return static_cast<double>(bytes) / bytes_per_s;
  }
  // The time until a message has arrived.
  [[nodiscard]] double arrival_seconds(std::uint64_t bytes) const {
    return seconds + occupied_seconds(bytes);
  }
};

class Latency {
 public:
  // Latencies between `nodes` workers. Every link is `everywhere` until it is set.
  explicit Latency(std::size_t nodes, Link everywhere = {});

  [[nodiscard]] std::size_t nodes() const { return nodes_; }
  // The link between two nodes. A link from a node to itself takes no time. Both numbers are below
  // nodes().
  [[nodiscard]] Link at(std::size_t from, std::size_t to) const;
  void set(std::size_t from, std::size_t to, Link link);
  void set_both(std::size_t a, std::size_t b, Link link);

 private:
  std::size_t nodes_;
  std::vector<Link> links_;  // Links by [from][to].
};

}  // namespace weft::mesh
