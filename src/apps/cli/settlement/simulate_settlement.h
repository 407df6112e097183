// weft simulate settlement: many epochs of settlement on the real virtual machine, from a seed,
// with crashes of the coordinator, a stolen posting key, a vote and forks; the sums of money are
// checked after every step (docs/settlement.md).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace weft::cli {

struct SimulateSettlementOptions {
  std::uint64_t seed = 1;
  std::uint32_t epochs = 100;
  std::uint32_t owners = 10'000;
  std::filesystem::path elf;  // The program; empty: as `scripts/build chain` makes it.
  std::string plant;          // A defect of planted_defects(); empty: none.
  bool json = false;
};
// claim-twice|lost-spend|...: what --plant takes.
inline constexpr const char* planted_defects[] = {"claim-twice", "lost-spend", "credit-twice",
                                                  "early-credit"};

// Exit code 1 where a sum does not hold, or a step does not do what it should.
int simulate_settlement_command(const SimulateSettlementOptions& options);

}  // namespace weft::cli
