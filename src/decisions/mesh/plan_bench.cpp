// Measures how long plan_chain() takes and how good its chains are: mesh_plan_bench [rounds].
// Prints one line for each case. Times are processor times of this process, which has one thread.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>

#include "decisions/mesh/chain_plan.h"

namespace weft::mesh {
namespace {

struct Case {
  const char* name;
  std::size_t nodes;
  std::uint32_t layers;
  double memory_layers;  // Layers that a node holds on average.
  Objective objective;
  std::uint32_t max_shards;
};

void run(const Case& c, int rounds) {
  std::vector<double> millis;
  double shards = 0;
  double token = 0;
  double period = 0;
  int planned = 0;
  for (int round = 0; round < rounds; ++round) {
    std::mt19937 random(static_cast<unsigned>(round));
    const auto between = [&](double low, double high) {
      return std::exp(std::uniform_real_distribution<>(std::log(low), std::log(high))(random));
    };
    const Model model{.layers = c.layers,
                      .layer_bytes = 1000,
                      .first_bytes = 500,
                      .last_bytes = 500,
                      .cache_bytes_per_layer = 50,
                      .hop_bytes = 10'000,
                      .last_work_layers = 1};
    std::vector<Node> nodes;
    for (std::size_t i = 0; i < c.nodes; ++i) {
      nodes.push_back(
          {.id = std::to_string(i),
           .layers_per_s = between(50, 2000),
           .memory_free = static_cast<std::uint64_t>(1050 * c.memory_layers * between(0.4, 2))});
    }
    Latency latency(c.nodes);
    for (std::size_t a = 0; a < c.nodes; ++a) {
      for (std::size_t b = 0; b < a; ++b)
        latency.set_both(a, b,
                         {.seconds = between(0.0005, 0.08), .bytes_per_s = between(1e6, 1e8)});
    }
    const std::clock_t begin = std::clock();
    const auto plan =
        plan_chain(model, nodes, latency, {.objective = c.objective, .max_shards = c.max_shards});
    millis.push_back(static_cast<double>(std::clock() - begin) * 1e3 / CLOCKS_PER_SEC);
    if (plan) {
      ++planned;
      shards += static_cast<double>(plan->shards.size());
      token += plan->token_seconds;
      period += plan->period_seconds;
    }
  }
  std::ranges::sort(millis);
  const double count = std::max(planned, 1);
  std::printf(
      "%-44s median %7.3f ms, greatest %7.3f ms, %d of %d planned; mean: %.1f shards, token %.3f "
      "ms, period %.3f ms\n",
      c.name, millis[millis.size() / 2], millis.back(), planned, rounds, shards / count,
      token / count * 1e3, period / count * 1e3);
}

}  // namespace
}  // namespace weft::mesh

int main(int argc, char** argv) {
  using weft::mesh::Objective;
  const int rounds = std::max(argc > 1 ? std::atoi(argv[1]) : 50, 1);
  for (const weft::mesh::Case& c : {
           weft::mesh::Case{"10 nodes, 80 layers, token", 10, 80, 20, Objective::token, 0},
           {"10 nodes, 80 layers, period", 10, 80, 20, Objective::period, 0},
           {"8 nodes, 80 layers, token", 8, 80, 20, Objective::token, 0},
           {"8 nodes, 80 layers, period", 8, 80, 20, Objective::period, 0},
           {"100 nodes, 80 layers, whole fits, token", 100, 80, 80, Objective::token, 0},
           {"100 nodes, 80 layers, a tenth fits, token", 100, 80, 8, Objective::token, 0},
           {"100 nodes, 80 layers, 2 layers fit, token", 100, 80, 2, Objective::token, 0},
           {"100 nodes, 80 layers, 8 shards, token", 100, 80, 20, Objective::token, 8},
           {"100 nodes, 80 layers, whole fits, period", 100, 80, 80, Objective::period, 0},
           {"100 nodes, 80 layers, a tenth fits, period", 100, 80, 8, Objective::period, 0},
           {"100 nodes, 80 layers, 8 shards, period", 100, 80, 20, Objective::period, 8},
           {"100 nodes, 32 layers, token", 100, 32, 8, Objective::token, 0},
           {"1000 nodes, 80 layers, token", 1000, 80, 8, Objective::token, 0},
       }) {
    run(c, rounds);
  }
}
