// Distances between workers, as a graph made from their heartbeats. Each worker reports its speed,
// its free memory and the times of its messages to other workers; the coordinator reports its own
// measurements as a heartbeat, too. Measurements are smoothed, and old edges and silent workers are
// dropped. Shortest paths (Dijkstra) lead directly or over workers that relay.
//
// Bounds: options.vertices_max vertices, and options.peers_max edges from each vertex; more are
// refused. Times are parameters and must not run backwards.
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
  double seconds = 0;      // The one-way time: half of a round trip.
  double bytes_per_s = 0;  // The bandwidth; 0: not measured.
};

struct Heartbeat {
  std::string id;
  double load = 0;  // The busy share of the worker's time, in [0, 1].
  std::uint64_t memory_free = 0;
  double layers_per_s = 0;  // The speed of the idle worker; 0: not measured.
  std::vector<PeerMeasurement> peers{};
  bool relays = false;  // True if the sender relays messages of others, as the coordinator does.
};

class Topology {
 public:
  struct Options {
    Duration silent_max =
        std::chrono::milliseconds(1500);  // A worker is dropped after three missed heartbeats.
    // An edge is dropped this long after its last measurement.
    Duration edge_age_max = std::chrono::seconds(10);
    double smoothing = 0.25;  // The weight of a new measurement.
    double bytes_per_s_unmeasured = 1e6;
    std::size_t vertices_max = 100'000;
    std::size_t peers_max = 256;
  };

  Topology();
  explicit Topology(const Options& options);

  // Takes in a heartbeat. Fails with invalid_argument for invalid numbers, and with
  // resource_exhausted past the bounds; in both cases nothing has changed.
  [[nodiscard]] Result<> heard(const Heartbeat& heartbeat, Instant now);
  // Removes a worker whose connection was closed.
  void gone(std::string_view id);
  // Drops silent workers and old edges. Returns the ids of the dropped workers.
  std::vector<std::string> age(Instant now);

  [[nodiscard]] std::size_t size() const { return vertices_.size(); }
  // The present workers, by id, with the speed that their load leaves. Relays and workers without a
  // speed are not nodes.
  [[nodiscard]] std::vector<Node> nodes() const;
  [[nodiscard]] std::optional<Link> edge(std::string_view from, std::string_view to) const;

  struct Path {
    std::vector<std::string> vertices;  // The path's vertices in order, with both ends.
    double seconds = 0;
  };
  // The shortest path; no value if there is none. Placement uses latency() instead. This path is
  // meant for image models that are split over workers, which exchange the borders of their tiles.
  [[nodiscard]] std::optional<Path> shortest_path(std::string_view from, std::string_view to) const;
  // Latencies between the nodes, in their order: shortest paths, each with the bandwidth of its
  // narrowest edge; infinite if there is no path. O(nodes (nodes + relays)^2).
  [[nodiscard]] Latency latency(std::span<const Node> nodes) const;

 private:
  struct Edge {
    Link link;
    Instant measured;
  };
  struct Vertex {
    Heartbeat last;
    double layers_per_s = 0;  // The smoothed speed.
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
