// weft simulate trust --list, --strategy, --search, --table: simulates attackers against the real
// decisions, in simulated time (docs/proof.md).
#pragma once

#include <cstdint>
#include <string>

namespace weft::cli {

struct SimulateAttacksOptions {
  std::uint64_t seed = 1;
  std::uint32_t tasks = 20'000;
  std::string strategy;  // Name of a strategy, or "honest": no attackers.
  std::string measure;   // Name of the only row shown; empty: all rows.
  double scale = 1;      // Factor on the number of tasks of the table's runs.
  std::uint32_t evaluations = 2'000;
  std::uint32_t best_tasks = 400'000;
  std::uint32_t threads = 2;
  bool json = false;
};

int list_attacks_command(bool json);
int play_attack_command(const SimulateAttacksOptions& options);
// Returns exit code 1 if a promise of the table is broken.
int attack_table_command(const SimulateAttacksOptions& options);
int search_attacks_command(const SimulateAttacksOptions& options);

}  // namespace weft::cli
