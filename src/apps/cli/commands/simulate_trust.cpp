#include "apps/cli/commands/simulate_trust.h"

#include <cstdio>
#include <string>
#include <vector>

#include "common/base/format.h"
#include "decisions/trust/simulation/levels.h"
#include "decisions/trust/simulation/network.h"

namespace weft::cli {
namespace {

namespace simulation = trust::simulation;

// Bounds that the policy promises to keep with 40 % dishonest workers. Convicted workers return as
// newcomers, whose results are computed as often as the job asks and checked in many parts.
constexpr double extra_work_max = 0.12;
constexpr double wrong_share_max = 1e-4;
// A simulation is judged only if each worker has at least this number of tasks. With fewer tasks no
// worker has a reputation yet, so every task is computed twice, and a share of 1e-4 is less than
// one task.
constexpr std::uint32_t tasks_per_worker_min = 500;

bool judged(const SimulateTrustOptions& options) {
  return options.tasks / options.workers >= tasks_per_worker_min;
}

// True if the promises hold. Promises about shares and averages are checked only if `judged`.
bool kept(const simulation::Outcome& outcome, MicroCredits value, bool judged) {
  bool all =
      outcome.failed_jobs == 0 && outcome.ledger_sum == 0 && outcome.kinds.front().convicted == 0;
  if (!judged) return all;
  all =
      all && outcome.extra_work_warm <= extra_work_max && outcome.wrong_share() <= wrong_share_max;
  for (std::size_t kind = 1; kind < outcome.kinds.size(); ++kind) {
    if (outcome.kinds[kind].cheats > 0) all = all && outcome.kinds[kind].per_cheat(value) < 0;
  }
  return all;
}

std::string json_of(const simulation::Outcome& outcome, std::uint64_t seed, MicroCredits value,
                    bool judged) {
  std::string text = weft::format(
      R"({{"seed":{},"tasks":{},"wrong_accepted":{},"wrong_share":{:.3e},"extra_work_cold":{:.5f},"extra_work_warm":{:.5f},"extra_replicas":{:.5f},"extra_audits":{:.5f},"extra_traps":{:.5f},"failed_jobs":{},"ledger_sum":{},"judged":{},"kept":{},"kinds":[)",
      seed, outcome.tasks, outcome.wrong_accepted, outcome.wrong_share(), outcome.extra_work_cold,
      outcome.extra_work_warm, outcome.extra_replicas, outcome.extra_audits, outcome.extra_traps,
      outcome.failed_jobs, outcome.ledger_sum, judged, kept(outcome, value, judged));
  for (std::size_t kind = 0; kind < outcome.kinds.size(); ++kind) {
    const auto& each = outcome.kinds[kind];
    text += weft::format(
        R"({}{{"kind":"{}","workers":{},"convicted":{},"cheats":{},"accepted":{},"gained":{},"slashed":{},"per_cheat":{:.4f}}})",
        kind == 0 ? "" : ",", simulation::kind_names[kind], each.workers, each.convicted,
        each.cheats, each.accepted, each.gained, each.slashed, each.per_cheat(value));
  }
  return text + "]}";
}

std::string json_of(const simulation::Level& level) {
  return weft::format(
      R"({{"reputation":{},"alone":{},"replica":{:.4f},"audit":{:.4f},"trap":{:.4f},"detection":{:.4f},"stake":{:.3f},"expected":{:.4f},"measured_detection":{:.4f},"measured":{:.4f},"standard_error":{:.4f}}})",
      level.reputation, level.alone, level.rates.replica, level.rates.audit, level.rates.trap,
      level.detection, level.stake, level.expected, level.measured_detection, level.measured,
      level.error);
}

void print(const simulation::Outcome& outcome, std::uint64_t seed, MicroCredits value,
           bool judged) {
  std::fputs(weft::format("seed {}: {} tasks, {} wrong and not found ({:.1e}); extra work {:.2f} % "
                          "cold, {:.2f} % warm (replicas {:.2f}, audits {:.2f}, "
                          "traps {:.2f}){}\n",
                          seed, outcome.tasks, outcome.wrong_accepted, outcome.wrong_share(),
                          outcome.extra_work_cold * 100, outcome.extra_work_warm * 100,
                          outcome.extra_replicas * 100, outcome.extra_audits * 100,
                          outcome.extra_traps * 100,
                          !kept(outcome, value, judged) ? "  BROKEN"
                          : judged                      ? ""
                                   : weft::format("; shares are not judged below {} tasks a worker",
                                                  tasks_per_worker_min))
                 .c_str(),
             stdout);
  for (std::size_t kind = 0; kind < outcome.kinds.size(); ++kind) {
    const auto& each = outcome.kinds[kind];
    std::fputs(weft::format("  {:9} {:4} workers, {:4} convicted, {:6} wrong answers, {:5} of them "
                            "paid, {:8.3f} values each\n",
                            simulation::kind_names[kind], each.workers, each.convicted, each.cheats,
                            each.accepted, each.per_cheat(value))
                   .c_str(),
               stdout);
  }
}

}  // namespace

int simulate_trust_command(const SimulateTrustOptions& options) {
  bool all_kept = true;
  std::string json = R"({"runs":[)";
  for (std::uint64_t seed = options.seed; seed < options.seed + options.seeds; ++seed) {
    simulation::Options chosen;
    chosen.seed = seed;
    chosen.workers = options.workers;
    chosen.tasks = options.tasks;
    chosen.job_tasks = options.job_tasks;
    const auto outcome = simulation::run(chosen);
    all_kept = all_kept && kept(outcome, chosen.value, judged(options));
    json +=
        (seed == options.seed ? "" : ",") + json_of(outcome, seed, chosen.value, judged(options));
    if (!options.json) print(outcome, seed, chosen.value, judged(options));
  }
  json += R"(],"levels":[)";
  if (options.trials > 0) {
    if (!options.json)
      std::fputs(
          "One cheat, in values of its task:\nreputation  alone  replica   audit  found  stake  "
          "expected  measured\n",
          stdout);
    bool first = true;
    simulation::LevelOptions wanted;
    wanted.seed = options.seed;
    wanted.trials = options.trials;
    wanted.parts_wrong = options.parts_wrong;
    for (const auto& level : simulation::measure_levels(wanted)) {
      all_kept = all_kept && level.expected < 0 && level.measured < 0;
      json += (first ? "" : ",") + json_of(level);
      first = false;
      if (options.json) continue;
      std::fputs(
          weft::format("{:10} {:>6} {:8.4f} {:7.3f} {:6.3f} {:6.2f} {:9.3f} {:9.3f} +- {:.3f}\n",
                       level.reputation, level.alone ? "yes" : "no", level.rates.replica,
                       level.rates.audit, level.measured_detection, level.stake, level.expected,
                       level.measured, level.error)
              .c_str(),
          stdout);
    }
  }
  json += weft::format("],\"kept\":{}}}\n", all_kept);
  if (options.json) std::fputs(json.c_str(), stdout);
  return all_kept ? 0 : 1;
}

}  // namespace weft::cli
