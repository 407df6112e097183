// weft simulate trust --list, --strategy, --search, --table: attackers against the real decisions,
// in simulated time (docs/proof.md).
#pragma once

#include <cstdint>
#include <string>

namespace weft::cli {

struct SimulateAttacksOptions {
  std::uint64_t seed = 1;
  std::uint32_t tasks = 20'000;
  std::string strategy;  // Its name, or "honest": without attackers.
  std::string measure;   // One row of the table; empty: all.
  double scale = 1;      // Tasks of the table's runs, over those that it is stated for.
  std::uint32_t evaluations = 2'000;
  std::uint32_t best_tasks = 400'000;
  std::uint32_t threads = 2;
  bool json = false;
};

int list_attacks_command(bool json);
int play_attack_command(const SimulateAttacksOptions& options);
// Exit code 1 where a promise is broken.
int attack_table_command(const SimulateAttacksOptions& options);
int search_attacks_command(const SimulateAttacksOptions& options);

}  // namespace weft::cli
