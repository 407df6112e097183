#include "decisions/mesh/topology.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft::mesh {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

bool measures(double value) { return std::isfinite(value) && value >= 0; }

}  // namespace

// The best known way from one vertex to another.
struct Topology::Reach {
  Link link{.seconds = infinite};
  std::size_t before = std::numeric_limits<std::size_t>::max();
  bool done = false;
};

Topology::Topology() : Topology(Options{}) {}
Topology::Topology(const Options& options) : options_(options) {}

Result<> Topology::heard(const Heartbeat& heartbeat, Instant now) {
  if (!measures(heartbeat.load) || heartbeat.load > 1 || !measures(heartbeat.layers_per_s)) {
    return fail(ErrorCode::invalid_argument,
                "The heartbeat of \"{}\" says load {} and {} layers/s; the load must be from 0 to "
                "1, and the rate finite and not negative.",
                heartbeat.id, heartbeat.load, heartbeat.layers_per_s);
  }
  if (heartbeat.peers.size() > options_.peers_max) {
    return fail(
        ErrorCode::resource_exhausted,
        "The heartbeat of \"{}\" names {} peers, more than {} (Topology::Options::peers_max).",
        heartbeat.id, heartbeat.peers.size(), options_.peers_max);
  }
  for (const PeerMeasurement& peer : heartbeat.peers) {
    if (!measures(peer.seconds) || !measures(peer.bytes_per_s) || peer.peer == heartbeat.id) {
      return fail(ErrorCode::invalid_argument,
                  "The heartbeat of \"{}\" measures {} s and {} bytes/s to \"{}\": both must be "
                  "finite and not negative, and the peer must be another worker.",
                  heartbeat.id, peer.seconds, peer.bytes_per_s, peer.peer);
    }
  }
  auto found = vertices_.find(heartbeat.id);
  const bool fresh = found == vertices_.end();
  if (fresh) {
    if (vertices_.size() >= options_.vertices_max)
      return fail(ErrorCode::resource_exhausted,
                  "There are {} workers already (Topology::Options::vertices_max).",
                  vertices_.size());
    found = vertices_.emplace(heartbeat.id, Vertex{}).first;
  }
  Vertex& vertex = found->second;
  const auto smooth = [&](double old, double measured) {
    return old + options_.smoothing * (measured - old);
  };
  vertex.load = fresh ? heartbeat.load : smooth(vertex.load, heartbeat.load);
  if (heartbeat.layers_per_s > 0)
    vertex.layers_per_s = vertex.layers_per_s == 0
                              ? heartbeat.layers_per_s
                              : smooth(vertex.layers_per_s, heartbeat.layers_per_s);
  vertex.heard = now;
  for (const PeerMeasurement& peer : heartbeat.peers) {
    const auto edge = vertex.edges.find(peer.peer);
    const bool old =
        edge != vertex.edges.end() && now - edge->second.measured <= options_.edge_age_max;
    if (!old && edge == vertex.edges.end() && vertex.edges.size() >= options_.peers_max)
      std::erase_if(vertex.edges, [&](const auto& entry) {
        return now - entry.second.measured > options_.edge_age_max;
      });
    if (edge == vertex.edges.end() && vertex.edges.size() >= options_.peers_max)
      continue;  // A new peer is dropped if the worker has peers_max edges already.
    Link link{
        .seconds = peer.seconds,
        .bytes_per_s = peer.bytes_per_s > 0 ? peer.bytes_per_s : options_.bytes_per_s_unmeasured};
    if (old) {
      link.seconds = smooth(edge->second.link.seconds, peer.seconds);
      link.bytes_per_s = peer.bytes_per_s > 0
                             ? smooth(edge->second.link.bytes_per_s, peer.bytes_per_s)
                             : edge->second.link.bytes_per_s;
    }
    vertex.edges.insert_or_assign(peer.peer, Edge{.link = link, .measured = now});
  }
  vertex.last = heartbeat;
  vertex.last.peers.clear();
  return {};
}

void Topology::gone(std::string_view id) {
  if (const auto found = vertices_.find(id); found != vertices_.end()) vertices_.erase(found);
}

std::vector<std::string> Topology::age(Instant now) {
  std::vector<std::string> gone;
  for (auto vertex = vertices_.begin(); vertex != vertices_.end();) {
    if (now - vertex->second.heard > options_.silent_max) {
      gone.push_back(vertex->first);
      vertex = vertices_.erase(vertex);
      continue;
    }
    std::erase_if(vertex->second.edges, [&](const auto& entry) {
      return now - entry.second.measured > options_.edge_age_max;
    });
    ++vertex;
  }
  return gone;
}

std::vector<Node> Topology::nodes() const {
  constexpr double least_share = 0.05;  // A loaded worker still gets this share of its time.
  std::vector<Node> nodes;
  for (const auto& [id, vertex] : vertices_) {
    if (vertex.last.relays || vertex.layers_per_s <= 0) continue;
    nodes.push_back({.id = id,
                     .layers_per_s = vertex.layers_per_s * std::max(1 - vertex.load, least_share),
                     .memory_free = vertex.last.memory_free});
  }
  return nodes;
}

// Returns the link as its sender measured it, or else as it was measured in the other direction.
std::optional<Link> Topology::link_between(const Vertex& from, const Vertex& to) const {
  if (const auto edge = from.edges.find(to.last.id); edge != from.edges.end())
    return edge->second.link;
  if (const auto edge = to.edges.find(from.last.id); edge != to.edges.end())
    return edge->second.link;
  return std::nullopt;
}

std::optional<Link> Topology::edge(std::string_view from, std::string_view to) const {
  const auto a = vertices_.find(from);
  const auto b = vertices_.find(to);
  if (a == vertices_.end() || b == vertices_.end()) return std::nullopt;
  return link_between(a->second, b->second);
}

// Dijkstra's algorithm (1959) on a dense graph. Only relays are inner vertices of a path.
std::vector<Topology::Reach> Topology::reach(const std::vector<const Vertex*>& vertices,
                                             std::size_t from) const {
  std::vector<Reach> reached(vertices.size());
  reached[from].link = {};
  for (;;) {
    std::size_t nearest = vertices.size();
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      if (!reached[i].done && std::isfinite(reached[i].link.seconds) &&
          (nearest == vertices.size() || reached[i].link.seconds < reached[nearest].link.seconds))
        nearest = i;
    }
    if (nearest == vertices.size()) return reached;
    reached[nearest].done = true;
    if (nearest != from && !vertices[nearest]->last.relays) continue;
    for (std::size_t to = 0; to < vertices.size(); ++to) {
      if (reached[to].done) continue;
      const auto link = link_between(*vertices[nearest], *vertices[to]);
      if (!link) continue;
      const double seconds = reached[nearest].link.seconds + link->seconds;
      if (seconds < reached[to].link.seconds)
        reached[to] = {
            .link = {.seconds = seconds,
                     .bytes_per_s = std::min(reached[nearest].link.bytes_per_s, link->bytes_per_s)},
            .before = nearest};
    }
  }
}

std::optional<Topology::Path> Topology::shortest_path(std::string_view from,
                                                      std::string_view to) const {
  std::vector<const Vertex*> vertices;
  std::size_t first = 0;
  std::size_t last = 0;
  int found = 0;
  for (const auto& [id, vertex] : vertices_) {
    if (id == from) first = vertices.size();
    if (id == to) last = vertices.size();
    found += static_cast<int>(id == from) + static_cast<int>(id == to);
    if (id == from || id == to || vertex.last.relays) vertices.push_back(&vertex);
  }
  if (found != 2) return std::nullopt;
  const std::vector<Reach> reached = reach(vertices, first);
  if (!std::isfinite(reached[last].link.seconds)) return std::nullopt;
  Path path{.vertices = {}, .seconds = reached[last].link.seconds};
  for (std::size_t at = last;; at = reached[at].before) {
    path.vertices.push_back(vertices[at]->last.id);
    if (at == first) break;
  }
  std::ranges::reverse(path.vertices);
  return path;
}

Latency Topology::latency(std::span<const Node> nodes) const {
  Latency latency(nodes.size(), {.seconds = infinite});
  std::vector<const Vertex*> vertices;
  std::vector<std::size_t> node_of;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (const auto found = vertices_.find(nodes[i].id); found != vertices_.end()) {
      vertices.push_back(&found->second);
      node_of.push_back(i);
    }
  }
  const std::size_t workers = vertices.size();
  for (const auto& [id, vertex] : vertices_) {
    if (vertex.last.relays && !std::ranges::contains(vertices, &vertex))
      vertices.push_back(&vertex);
  }
  for (std::size_t a = 0; a < workers; ++a) {
    const std::vector<Reach> reached = reach(vertices, a);
    for (std::size_t b = 0; b < workers; ++b) {
      if (a != b) latency.set(node_of[a], node_of[b], reached[b].link);
    }
  }
  return latency;
}

}  // namespace weft::mesh
