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
      "Simulates epochs of settlement on Solana's real virtual machine, on this machine: deposits, "
      "work, claims, stakes, two crashes of the coordinator, a stolen posting key, a vote, forks. "
      "The sums of money are checked after every step. Exit code 1 if a sum is wrong");
  settlement->footer(
      "Examples:\n"
      "  weft simulate settlement                            100 epochs, 10,000 owners; takes "
      "minutes\n"
      "  weft simulate settlement --epochs 6 --owners 40     takes seconds\n"
      "  weft simulate settlement --seed 7 --json\n"
      "  weft simulate settlement --epochs 6 --owners 40 --plant lost-spend   a defect, which the "
      "sums must show\n\n"
      "It needs Node and the packages that `scripts/build chain` installs. No public cluster is "
      "reached.");
  settlement->add_option("--seed", options->seed, "Seed; the same seed gives the same run");
  settlement->add_option("--epochs", options->epochs, "Number of epochs, of a day each")
      ->check(CLI::Range(5, 1'000));
  settlement->add_option("--owners", options->owners, "Number of owners that work and are paid")
      ->check(CLI::Range(20, 200'000));
  settlement
      ->add_option("--elf", options->elf,
                   "File with the program (default: as `scripts/build chain` makes it)")
      ->check(CLI::ExistingFile);
  settlement->add_option("--plant", options->plant, "Defect to plant, which the sums must show")
      ->check(CLI::IsMember(
          std::vector<std::string>(std::begin(planted_defects), std::end(planted_defects))));
  settlement->add_flag("--json", options->json, "Print one JSON document on standard output");
  settlement->callback(
      [options, &chosen] { chosen = [options] { return simulate_settlement_command(*options); }; });
}

}  // namespace

void add_simulate_commands(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* simulate = app.add_subcommand(
      "simulate", "Simulates the network's rules from a seed, without a network");
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
  CLI::App* trust =
      simulate->add_subcommand("trust",
                               "Simulates workers that cheat against the checks: extra work, wrong "
                               "results that slip through, and the gain of a cheat at each "
                               "reputation. Exit code 1 if a promise of docs/proof.md is broken");
  trust->footer(
      "Examples:\n"
      "  weft simulate trust --list                        every strategy\n"
      "  weft simulate trust --strategy one-slice --tasks 100000\n"
      "  weft simulate trust --table                       every promise; takes some minutes\n"
      "  weft simulate trust --table --measure honest --scale 0.1\n"
      "  weft simulate trust --search --seed 7             searches the worst attack; Ctrl-C "
      "prints\n"
      "                                                    the worst so far");
  trust->add_option("--seed", options->trust.seed, "Seed; the same seed gives the same run");
  trust->add_option("--seeds", options->trust.seeds,
                    "Number of runs, with consecutive seeds from --seed on");
  trust->add_option("--workers", options->trust.workers, "Number of workers of all kinds")
      ->check(CLI::Range(20, 100'000));
  CLI::Option* tasks = trust
                           ->add_option("--tasks", options->trust.tasks,
                                        "Number of tasks (default for a strategy, and for each "
                                        "evaluation of a search: 20,000)")
                           ->check(CLI::Range(100, 100'000'000));
  trust->add_option("--job-tasks", options->trust.job_tasks, "Number of tasks of one job")
      ->check(CLI::Range(1, 10'000'000));
  trust->add_option(
      "--trials", options->trust.trials,
      "Trials of one cheat at each reputation, for the table of its gain (0: no table)");
  trust
      ->add_option("--parts-wrong", options->trust.parts_wrong,
                   "Wrong parts, out of 32, of the cheat in these trials")
      ->check(CLI::Range(1, 32));
  CLI::Option* list = trust->add_flag("--list", options->list, "List the strategies");
  CLI::Option* strategy = trust->add_option(
      "--strategy", options->attacks.strategy,
      "Strategy of the attackers, played against levels and a verifier ('honest': no attackers)");
  CLI::Option* table =
      trust->add_flag("--table", options->table, "Measure every promise of docs/proof.md");
  trust
      ->add_option("--measure", options->attacks.measure,
                   "Name of the only row of the table to measure")
      ->needs(table);
  trust
      ->add_option("--scale", options->attacks.scale,
                   "Factor on the number of tasks that the table's runs are stated for")
      ->needs(table)
      ->check(CLI::Range(0.001, 10.0));
  CLI::Option* search = trust->add_flag(
      "--search", options->search, "Search for the worst attack, at random and by hill climbing");
  trust
      ->add_option("--evaluations", options->attacks.evaluations,
                   "Number of evaluations of the search")
      ->needs(search)
      ->check(CLI::Range(1, 1'000'000));
  trust
      ->add_option("--best-tasks", options->attacks.best_tasks,
                   "Number of tasks with which the best 20 attacks of the search are played again")
      ->needs(search)
      ->check(CLI::Range(100, 100'000'000));
  trust->add_option("--threads", options->attacks.threads, "Number of threads of the search")
      ->needs(search)
      ->check(CLI::Range(1, 256));
  list->excludes(strategy)->excludes(table)->excludes(search);
  strategy->excludes(table)->excludes(search);
  table->excludes(search);
  trust->add_flag("--json", options->trust.json, "Print one JSON document on standard output");
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
