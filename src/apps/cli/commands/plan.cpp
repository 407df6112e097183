#include "apps/cli/commands/plan.h"

#include <cstdio>
#include <string>

#include <glaze/glaze.hpp>

#include "apps/cli/exit_code.h"
#include "decisions/scheduler/simulator/performance_model.h"
#include "decisions/scheduler/simulator/simulator.h"

namespace weft::cli {

struct PlanSimulated {
  double gflops = 0;
  double job_seconds = 0;
  double difference = 0;  // Relative to the formula's GFLOP/s: 0.1 is a tenth more.
};
struct PlanRow {
  std::uint32_t workers = 0;
  double gflops = 0;
  double tasks_per_second = 0;
  double job_seconds = 0;
  std::optional<PlanSimulated> simulated;
};
struct PlanDocument {
  double worker_gflops = 0;
  double efficiency = 0;
  double latency_seconds = 0;
  double compute_seconds = 0;
  std::uint32_t tasks = 0;
  std::uint32_t replicas = 0;
  std::vector<PlanRow> rows;
};

namespace {

namespace simulator = scheduler::simulator;

constexpr std::uint64_t simulated_runs_max = 2'000'000;

Result<PlanSimulated> simulate(const PlanOptions& options, const simulator::Network& network) {
  const std::uint64_t runs = std::uint64_t{options.tasks} * options.replicas;
  if (runs > simulated_runs_max) {
    return fail(
        ErrorCode::invalid_argument,
        "The simulation runs at most {} replicas of tasks; this job has {} (--tasks, --replicas).",
        simulated_runs_max, runs);
  }
  if (network.workers < options.replicas) {
    return fail(ErrorCode::invalid_argument,
                "The {} replicas of a task (--replicas) must run on different workers; the network "
                "has {} (--workers).",
                options.replicas, network.workers);
  }
  simulator::Scenario scenario;
  scenario.workers.assign(static_cast<std::size_t>(network.workers),
                          {.rate = 1, .slots = options.slots});
  // A worker with efficiency E takes 1 / E times as long, because only a share E of its time
  // counts.
  scenario.jobs = {{.at = 0,
                    .tasks = options.tasks,
                    .task_seconds = network.compute_seconds / network.efficiency,
                    .replicas = options.replicas}};
  scenario.latency_seconds =
      // The formula applies the efficiency E to the latency too.
      network.latency_seconds / network.efficiency;
  scenario.spread = options.spread;
  auto log = simulator::simulate(scenario);
  if (!log) return pass(std::move(log));
  const double work = static_cast<double>(runs) * network.compute_seconds * network.gflops;
  return PlanSimulated{.gflops = work / log->seconds, .job_seconds = log->seconds};
}

Result<PlanDocument> plan(const PlanOptions& options) {
  simulator::Network network{
      .gflops = options.gflops,
      .efficiency = options.efficiency,
      .latency_seconds = (options.latency_ms / 1000) + (options.task_mbytes * 8 / options.mbit),
      .compute_seconds =
          options.task_ms ? *options.task_ms / 1000 : options.task_gflop / options.gflops};
  PlanDocument document{.worker_gflops = network.gflops,
                        .efficiency = network.efficiency,
                        .latency_seconds = network.latency_seconds,
                        .compute_seconds = network.compute_seconds,
                        .tasks = options.tasks,
                        .replicas = options.replicas,
                        .rows = {}};
  for (const std::uint32_t workers : options.workers) {
    network.workers = workers;
    auto gflops = simulator::performance(network);
    if (!gflops) return pass(std::move(gflops));
    auto took =
        simulator::job_seconds(network, {.tasks = options.tasks, .replicas = options.replicas});
    if (!took) return pass(std::move(took));
    PlanRow row{.workers = workers,
                .gflops = *gflops,
                .tasks_per_second = options.tasks / *took,
                .job_seconds = *took,
                .simulated = {}};
    if (options.simulate) {
      auto simulated = simulate(options, network);
      if (!simulated) return pass(std::move(simulated));
      simulated->difference = simulated->gflops / row.gflops - 1;
      row.simulated = *simulated;
    }
    document.rows.push_back(row);
  }
  return document;
}

void print(const PlanDocument& document) {
  std::printf("P = N * G * E / (1 + L / C)    G = %g GFLOP/s, E = %g, L = %g ms, C = %g ms\n",
              document.worker_gflops, document.efficiency, document.latency_seconds * 1000,
              document.compute_seconds * 1000);
  std::printf("%u tasks of %g GFLOP, %u replica%s each\n\n", document.tasks,
              document.worker_gflops * document.compute_seconds, document.replicas,
              document.replicas == 1 ? "" : "s");
  const bool simulated = !document.rows.empty() && document.rows.front().simulated.has_value();
  std::printf("workers        GFLOP/s      task/s       job%s\n",
              simulated ? "   simulated GFLOP/s       job  difference" : "");
  for (const PlanRow& row : document.rows) {
    std::printf("%7u  %13.1f  %10.2f  %7.1f s", row.workers, row.gflops, row.tasks_per_second,
                row.job_seconds);
    if (row.simulated)
      std::printf("  %18.1f  %7.1f s  %+9.1f%%", row.simulated->gflops, row.simulated->job_seconds,
                  row.simulated->difference * 100);
    std::printf("\n");
  }
}

}  // namespace

int plan_command(const PlanOptions& options) {
  const auto document = plan(options);
  if (!document) return report("plan", document.error());
  if (!options.json) {
    print(*document);
    return 0;
  }
  std::string text;
  (void)glz::write_json(*document, text);  // Cannot fail: the document has only numbers.
  std::printf("%s\n", text.c_str());
  return 0;
}

}  // namespace weft::cli
