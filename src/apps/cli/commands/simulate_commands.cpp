#include <memory>

#include <CLI/CLI.hpp>

#include "apps/cli/commands/commands.h"
#include "apps/cli/commands/simulate_trust.h"

namespace weft::cli {

void add_simulate_commands(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* simulate = app.add_subcommand(
      "simulate", "What the network's rules come to, from a seed, without a network");
  simulate->require_subcommand(1);
  auto options = std::make_shared<SimulateTrustOptions>();
  CLI::App* trust = simulate->add_subcommand(
      "trust",
      "Workers that cheat against the checks: extra work, wrong results that slip through, what a "
      "cheat "
      "is worth at each reputation. Exit code 1 where a promise of docs/proof.md is broken");
  trust->add_option("--seed", options->seed, "The same seed gives the same run");
  trust->add_option("--seeds", options->seeds, "So many seeds, one after the other");
  trust->add_option("--workers", options->workers, "Of all kinds")->check(CLI::Range(20, 100'000));
  trust->add_option("--tasks", options->tasks, "In all")->check(CLI::Range(100, 100'000'000));
  trust->add_option("--job-tasks", options->job_tasks, "Of one job")
      ->check(CLI::Range(1, 10'000'000));
  trust->add_option("--trials", options->trials,
                    "Of one cheat at each reputation; 0 leaves that table out");
  trust->add_option("--parts-wrong", options->parts_wrong, "Of 32, in those trials")
      ->check(CLI::Range(1, 32));
  trust->add_flag("--json", options->json, "One JSON document on standard output");
  trust->callback(
      [options, &chosen] { chosen = [options] { return simulate_trust_command(*options); }; });
}

}  // namespace weft::cli
