// The graph holds recent measurements and nothing else. Paths are the shortest ones, and lead over
// relays only.
#include "decisions/mesh/topology.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

namespace weft::mesh {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Instant at(Duration since) { return Instant(since); }

Heartbeat worker(std::string id, std::vector<PeerMeasurement> peers = {}) {
  return {.id = std::move(id),
          .load = 0,
          .memory_free = 1000,
          .layers_per_s = 100,
          .peers = std::move(peers)};
}

TEST(Topology, LeadsDirectlyWhereThatIsShorterAndOverTheRelayWhereItIsNot) {
  Topology topology;
  ASSERT_TRUE(topology.heard(
      {.id = "coordinator", .peers = {{"a", 0.01}, {"b", 0.02}, {"c", 0.05}}, .relays = true},
      at({})));
  ASSERT_TRUE(topology.heard(worker("a", {{"b", 0.005}, {"c", 0.5}}), at({})));
  ASSERT_TRUE(topology.heard(worker("b"), at({})));
  ASSERT_TRUE(topology.heard(worker("c"), at({})));

  EXPECT_EQ(topology.shortest_path("a", "b")->vertices, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(topology.shortest_path("a", "c")->vertices,
            (std::vector<std::string>{"a", "coordinator", "c"}));
  EXPECT_NEAR(topology.shortest_path("a", "c")->seconds, 0.06, 1e-12);
  EXPECT_FALSE(topology.shortest_path("a", "unknown").has_value());

  const std::vector<Node> nodes = topology.nodes();
  ASSERT_EQ(nodes.size(), 3U);
  EXPECT_NEAR(topology.latency(nodes).at(0, 2).seconds, 0.06, 1e-12);
}

TEST(Topology, DoesNotLeadThroughAWorker) {
  Topology topology;
  ASSERT_TRUE(topology.heard(worker("a", {{"b", 0.001}}), at({})));
  ASSERT_TRUE(topology.heard(worker("b", {{"c", 0.001}}), at({})));
  ASSERT_TRUE(topology.heard(worker("c"), at({})));

  EXPECT_FALSE(topology.shortest_path("a", "c").has_value());
  EXPECT_TRUE(std::isinf(topology.latency(topology.nodes()).at(0, 2).seconds));
}

// Compares with the algorithm of Floyd and Warshall on random graphs in which every worker relays.
TEST(Topology, FindsTheShortestOfAllPaths) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937 random(seed);
    const std::size_t n = 2 + random() % 9;
    std::vector<double> shortest(n * n, std::numeric_limits<double>::infinity());
    Topology topology;
    for (std::size_t a = 0; a < n; ++a) {
      Heartbeat heartbeat = worker(std::to_string(a));
      heartbeat.relays = true;
      shortest[a * n + a] = 0;
      for (std::size_t b = 0; b < a; ++b) {
        if (random() % 3 != 0) continue;
        const double s = 0.001 * static_cast<double>(1 + random() % 1000);
        heartbeat.peers.push_back({.peer = std::to_string(b), .seconds = s});
        shortest[a * n + b] = shortest[b * n + a] = s;
      }
      ASSERT_TRUE(topology.heard(heartbeat, at({})));
    }
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t a = 0; a < n; ++a) {
        for (std::size_t b = 0; b < n; ++b)
          shortest[a * n + b] =
              std::min(shortest[a * n + b], shortest[a * n + k] + shortest[k * n + b]);
      }
    }
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = 0; b < n; ++b) {
        if (a == b) continue;
        const auto path = topology.shortest_path(std::to_string(a), std::to_string(b));
        ASSERT_EQ(path.has_value(), std::isfinite(shortest[a * n + b])) << "seed " << seed;
        EXPECT_NEAR(path ? path->seconds : 0, path ? shortest[a * n + b] : 0, 1e-9)
            << "seed " << seed;
      }
    }
  }
}

TEST(Topology, ForgetsEdgesThatAreNoLongerMeasured) {
  Topology topology;
  ASSERT_TRUE(topology.heard(worker("a", {{"b", 0.01}}), at({})));
  for (int i = 0; i <= 21; ++i) {
    ASSERT_TRUE(topology.heard(worker("a"), at(milliseconds(500 * i))));
    ASSERT_TRUE(topology.heard(worker("b"), at(milliseconds(500 * i))));
    EXPECT_TRUE(topology.age(at(milliseconds(500 * i))).empty());
    EXPECT_EQ(topology.edge("a", "b").has_value(), i <= 20);
  }
}

TEST(Topology, LosesAWorkerAfterThreeHeartbeatsOfSilence) {
  Topology topology;
  ASSERT_TRUE(topology.heard(worker("a"), at({})));
  ASSERT_TRUE(topology.heard(worker("b"), at(milliseconds(500))));

  EXPECT_TRUE(topology.age(at(milliseconds(1500))).empty());
  EXPECT_EQ(topology.age(at(milliseconds(1501))), std::vector<std::string>{"a"});
  topology.gone("b");
  EXPECT_EQ(topology.size(), 0U);
}

TEST(Topology, SmoothsOneOutlierAway) {
  Topology topology;
  for (int i = 0; i < 20; ++i)
    ASSERT_TRUE(topology.heard(worker("a", {{"b", 0.01}}), at(milliseconds(500 * i))));
  ASSERT_TRUE(topology.heard(worker("b"), at(seconds(10))));
  ASSERT_TRUE(topology.heard(worker("a", {{"b", 0.05}}), at(seconds(10))));

  EXPECT_NEAR(topology.edge("a", "b")->seconds, 0.02, 1e-9);
  // Only the other direction was measured.
  EXPECT_NEAR(topology.edge("b", "a")->seconds, 0.02, 1e-9);
}

TEST(Topology, CountsTheSpeedThatLoadLeaves) {
  Topology topology;
  Heartbeat busy = worker("a");
  busy.load = 0.75;
  ASSERT_TRUE(topology.heard(busy, at({})));

  EXPECT_NEAR(topology.nodes()[0].layers_per_s, 25, 1e-9);
}

TEST(Topology, RefusesNonsenseAndWhatIsTooMuch) {
  Topology topology({.vertices_max = 1, .peers_max = 1});
  Heartbeat odd = worker("a");
  odd.load = std::nan("");

  EXPECT_EQ(topology.heard(odd, at({})).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(topology.heard(worker("a", {{"b", -1}}), at({})).error().code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(topology.heard(worker("a", {{"b", 1}, {"c", 1}}), at({})).error().code,
            ErrorCode::resource_exhausted);
  ASSERT_TRUE(topology.heard(worker("a"), at({})));
  EXPECT_EQ(topology.heard(worker("b"), at({})).error().code, ErrorCode::resource_exhausted);
  EXPECT_EQ(topology.size(), 1U);
}

}  // namespace
}  // namespace weft::mesh
