// weft simulate settlement: simulates many epochs of settlement on the real virtual machine, from a
// seed, with crashes of the coordinator, a stolen posting key, a vote and forks. The sums of money
// are checked after every step (docs/settlement.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace weft::cli {

struct SimulateSettlementOptions {
  std::uint64_t seed = 1;
  std::uint32_t epochs = 100;
  std::uint32_t owners = 10'000;
  std::filesystem::path elf;  // The program; empty: that of `scripts/build chain`.
  std::string plant;          // A defect of planted_defects; empty: none.
  bool json = false;
};
// The allowed values of --plant.
inline constexpr const char* planted_defects[] = {"claim-twice", "lost-spend", "credit-twice",
                                                  "early-credit"};

// Returns exit code 1 if a sum is wrong or a step does not have its expected effect.
int simulate_settlement_command(const SimulateSettlementOptions& options);

}  // namespace weft::cli
