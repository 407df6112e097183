#include <memory>

#include <CLI/CLI.hpp>

#include "apps/cli/commands/commands.h"
#include "apps/cli/commands/simulate_attacks.h"
#include "apps/cli/commands/simulate_trust.h"
#include "apps/cli/settlement/simulate_settlement.h"

namespace weft::cli {
namespace {

void add_settlement(CLI::App* simulate, std::function<int()>& chosen) {
  auto options = std::make_shared<SimulateSettlementOptions>();
  CLI::App* settlement = simulate->add_subcommand(
      "settlement",
      "Epochs of settlement on Solana's real virtual machine, on this machine: deposits, work, "
      "claims, stakes, two crashes of the coordinator, a stolen posting key, a vote, forks. The "
      "sums "
      "of money are looked at after every step. Exit code 1 where one does not hold");
  settlement->footer(
      "Examples:\n"
      "  weft simulate settlement                            100 epochs, 10,000 owners; minutes\n"
      "  weft simulate settlement --epochs 6 --owners 40     seconds\n"
      "  weft simulate settlement --seed 7 --json\n"
      "  weft simulate settlement --epochs 6 --owners 40 --plant lost-spend   a defect, which the "
      "sums must show\n\n"
      "It needs Node and the packages that `scripts/build chain` installs. No public cluster is "
      "reached.");
  settlement->add_option("--seed", options->seed, "The same seed gives the same run");
  settlement->add_option("--epochs", options->epochs, "Of a day each")->check(CLI::Range(5, 1'000));
  settlement->add_option("--owners", options->owners, "That work and are paid")
      ->check(CLI::Range(20, 200'000));
  settlement
      ->add_option("--elf", options->elf,
                   "The program (default: as `scripts/build chain` makes it)")
      ->check(CLI::ExistingFile);
  settlement->add_option("--plant", options->plant, "A defect that the sums must show")
      ->check(CLI::IsMember(
          std::vector<std::string>(std::begin(planted_defects), std::end(planted_defects))));
  settlement->add_flag("--json", options->json, "One JSON document on standard output");
  settlement->callback(
      [options, &chosen] { chosen = [options] { return simulate_settlement_command(*options); }; });
}

}  // namespace

void add_simulate_commands(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* simulate = app.add_subcommand(
      "simulate", "What the network's rules come to, from a seed, without a network");
  simulate->require_subcommand(1);
  add_settlement(simulate, chosen);
  struct Chosen {
    SimulateTrustOptions trust;
    SimulateAttacksOptions attacks;
    bool list = false;
    bool search = false;
    bool table = false;
  };
  auto options = std::make_shared<Chosen>();
  CLI::App* trust = simulate->add_subcommand(
      "trust",
      "Workers that cheat against the checks: extra work, wrong results that slip through, what a "
      "cheat "
      "is worth at each reputation. Exit code 1 where a promise of docs/proof.md is broken");
  trust->footer(
      "Examples:\n"
      "  weft simulate trust --list                        every strategy\n"
      "  weft simulate trust --strategy one-slice --tasks 100000\n"
      "  weft simulate trust --table                       every promise, some minutes\n"
      "  weft simulate trust --table --measure honest --scale 0.1\n"
      "  weft simulate trust --search --seed 7             looks for the worst attack; Ctrl-C "
      "prints\n"
      "                                                    what there is");
  trust->add_option("--seed", options->trust.seed, "The same seed gives the same run");
  trust->add_option("--seeds", options->trust.seeds, "So many seeds, one after the other");
  trust->add_option("--workers", options->trust.workers, "Of all kinds")
      ->check(CLI::Range(20, 100'000));
  CLI::Option* tasks = trust
                           ->add_option("--tasks", options->trust.tasks,
                                        "In all; of a strategy, and of each evaluation of a "
                                        "search, 20,000 if nothing is said")
                           ->check(CLI::Range(100, 100'000'000));
  trust->add_option("--job-tasks", options->trust.job_tasks, "Of one job")
      ->check(CLI::Range(1, 10'000'000));
  trust->add_option("--trials", options->trust.trials,
                    "Of one cheat at each reputation; 0 leaves that table out");
  trust->add_option("--parts-wrong", options->trust.parts_wrong, "Of 32, in those trials")
      ->check(CLI::Range(1, 32));
  CLI::Option* list = trust->add_flag("--list", options->list, "Names every strategy");
  CLI::Option* strategy = trust->add_option("--strategy", options->attacks.strategy,
                                            "Plays one, against levels and a verifier; 'honest': "
                                            "none");
  CLI::Option* table =
      trust->add_flag("--table", options->table, "Every promise, with what is measured");
  trust->add_option("--measure", options->attacks.measure, "One row of the table")->needs(table);
  trust
      ->add_option("--scale", options->attacks.scale,
                   "Tasks of the table's runs, over those that it is stated for")
      ->needs(table)
      ->check(CLI::Range(0.001, 10.0));
  CLI::Option* search = trust->add_flag(
      "--search", options->search, "Looks for the worst attack, at random and by hill climbing");
  trust->add_option("--evaluations", options->attacks.evaluations, "Of the search")
      ->needs(search)
      ->check(CLI::Range(1, 1'000'000));
  trust
      ->add_option("--best-tasks", options->attacks.best_tasks,
                   "With which the best 20 are played again")
      ->needs(search)
      ->check(CLI::Range(100, 100'000'000));
  trust->add_option("--threads", options->attacks.threads, "Of the search")
      ->needs(search)
      ->check(CLI::Range(1, 256));
  list->excludes(strategy)->excludes(table)->excludes(search);
  strategy->excludes(table)->excludes(search);
  table->excludes(search);
  trust->add_flag("--json", options->trust.json, "One JSON document on standard output");
  trust->callback([options, tasks, &chosen] {
    SimulateAttacksOptions& attacks = options->attacks;
    attacks.seed = options->trust.seed;
    attacks.json = options->trust.json;
    if (tasks->count() > 0) attacks.tasks = options->trust.tasks;
    chosen = [options] {
      if (options->list) return list_attacks_command(options->attacks.json);
      if (options->table) return attack_table_command(options->attacks);
      if (options->search) return search_attacks_command(options->attacks);
      if (!options->attacks.strategy.empty()) return play_attack_command(options->attacks);
      return simulate_trust_command(options->trust);
    };
  });
}

}  // namespace weft::cli
