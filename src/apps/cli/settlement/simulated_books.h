// What must hold after every step of a settlement simulation: the chain's sums of money among
// themselves, against what the simulation has counted, and against the coordinator's ledger.
//
// Threading: one thread. A copy is a state that a fork can return to.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "apps/cli/settlement/line.h"
#include "common/solana/sum_tree.h"

namespace weft::cli {

// Counted by the simulation as it acts; all in micro-credits since the start.
struct SimulatedBooks {
  std::uint64_t deposits = 0, withdrawals = 0;
  std::uint64_t charged = 0;  // With fees.
  std::uint64_t staked = 0, unbonding = 0;
  std::uint64_t bonds_burned = 0;
  std::uint64_t claimed = 0;
  std::vector<std::uint64_t> claimed_of;          // By the owner's number.
  std::map<PublicKey, std::uint64_t> charged_of;  // By client, with fees.
  // The last epoch that is not void; `forged`: a thief of the posting key made it.
  std::shared_ptr<const solana::SumTree> posted;
  bool forged = false;
  // The last final epoch, and where it is in the ring.
  std::shared_ptr<const solana::SumTree> final;
  std::uint64_t final_slot = 0;
  std::set<std::uint32_t> pages;  // That are open.
};

// What the coordinator has written down.
struct LedgerSums {
  MicroCredits sum = 0;                         // All accounts together.
  MicroCredits issued = 0;                      // Ever.
  MicroCredits settled = 0;                     // Ever.
  std::map<PublicKey, std::uint64_t> credited;  // By client: its journal.
};

class SettlementWatch {
 public:
  // Accounts of these owners are read at every look: 80 at most.
  struct Watched {
    std::vector<PublicKey> clients;
    std::vector<PublicKey> stakers;
  };
  SettlementWatch(const SettlementLine& line, const Watched& watched);

  // The first thing that does not hold, as a sentence; empty where all do. Errors are the node's.
  [[nodiscard]] Result<std::string> look(const SimulatedBooks& books, const LedgerSums& ledger);
  [[nodiscard]] std::uint64_t looks() const { return looks_; }

 private:
  const SettlementLine& line_;
  std::vector<PublicKey> keys_;  // Config, mint, vault, stake vault, then escrows, then stakes.
  std::size_t clients_ = 0;
  std::uint64_t looks_ = 0;
};

}  // namespace weft::cli
