// Distances between workers: a graph from their heartbeats. Each says how fast it is, what it has
// free and how long its messages to others took; the coordinator's own measurements come the same
// way. Measurements are smoothed, old edges and silent workers age out, and shortest paths
// (Dijkstra) lead directly or over workers that relay.
//
// Bounds: options.vertices_max vertices and options.peers_max edges from each; what is beyond is
// refused. Times are handed in and must not run backwards.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/clock.h"
#include "common/base/result.h"
#include "decisions/mesh/chain_plan.h"
#include "decisions/mesh/latency.h"

namespace weft::mesh {

struct PeerMeasurement {
  std::string peer;
  double seconds = 0;      // One way: half of a round trip.
  double bytes_per_s = 0;  // 0: not measured.
};

struct Heartbeat {
  std::string id;
  double load = 0;  // Share of its time that is taken, [0, 1].
  std::uint64_t memory_free = 0;
  double layers_per_s = 0;  // Idle; 0: not measured.
  std::vector<PeerMeasurement> peers{};
  bool relays = false;  // Passes on what others send: the coordinator.
};

class Topology {
 public:
  struct Options {
    Duration silent_max =
        std::chrono::milliseconds(1500);               // Three heartbeats; then a worker is gone.
    Duration edge_age_max = std::chrono::seconds(10);  // Since it was last measured.
    double smoothing = 0.25;                           // How much of a new measurement counts.
    double bytes_per_s_unmeasured = 1e6;
    std::size_t vertices_max = 100'000;
    std::size_t peers_max = 256;
  };

  Topology();
  explicit Topology(const Options& options);

  // invalid_argument for invalid numbers, resource_exhausted past the bounds; then nothing
  // has changed.
  [[nodiscard]] Result<> heard(const Heartbeat& heartbeat, Instant now);
  // A closed connection.
  void gone(std::string_view id);
  // Drops who is silent and edges that are old; says who is gone.
  std::vector<std::string> age(Instant now);

  [[nodiscard]] std::size_t size() const { return vertices_.size(); }
  // Workers that are there, by id, with the speed that their load leaves; relays and those without
  // a speed are no nodes.
  [[nodiscard]] std::vector<Node> nodes() const;
  [[nodiscard]] std::optional<Link> edge(std::string_view from, std::string_view to) const;

  struct Path {
    std::vector<std::string> vertices;  // From the first to the last.
    double seconds = 0;
  };
  // Nothing if no path leads there. Not used by placement yet (latency() is): image models that are
  // split over workers will exchange the borders of their tiles along it.
  [[nodiscard]] std::optional<Path> shortest_path(std::string_view from, std::string_view to) const;
  // Between nodes, in their order: shortest paths, each as wide as its narrowest edge; infinite
  // where none leads. O(nodes (nodes + relays)^2).
  [[nodiscard]] Latency latency(std::span<const Node> nodes) const;

 private:
  struct Edge {
    Link link;
    Instant measured;
  };
  struct Vertex {
    Heartbeat last;
    double layers_per_s = 0;  // Smoothed.
    double load = 0;
    Instant heard;
    std::map<std::string, Edge, std::less<>> edges;
  };
  struct Reach;
  [[nodiscard]] std::vector<Reach> reach(const std::vector<const Vertex*>& vertices,
                                         std::size_t from) const;
  [[nodiscard]] std::optional<Link> link_between(const Vertex& from, const Vertex& to) const;

  Options options_;
  std::map<std::string, Vertex, std::less<>> vertices_;
};

}  // namespace weft::mesh
