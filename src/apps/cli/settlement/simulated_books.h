// The conditions that must hold after every step of a settlement simulation: the chain's sums of
// money must agree with one another, with the simulation's own counts, and with the coordinator's
// ledger.
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

// The amounts that the simulation counts as it acts, in micro-credits since the start.
struct SimulatedBooks {
  std::uint64_t deposits = 0, withdrawals = 0;
  std::uint64_t charged = 0;  // Charged amounts, including fees.
  std::uint64_t staked = 0, unbonding = 0;
  std::uint64_t bonds_burned = 0;
  std::uint64_t claimed = 0;
  std::vector<std::uint64_t> claimed_of;          // Claimed amounts, by the owner's number.
  std::map<PublicKey, std::uint64_t> charged_of;  // Charged amounts with fees, by client.
  // The rows of the last epoch that is not void. `forged` is true if a thief of the posting key
  // made it.
  std::shared_ptr<const solana::SumTree> posted;
  bool forged = false;
  // The rows of the last final epoch, and its slot in the ring.
  std::shared_ptr<const solana::SumTree> final;
  std::uint64_t final_slot = 0;
  std::set<std::uint32_t> pages;  // Numbers of the existing pages of claims.
};

// The sums in the coordinator's ledger and journal.
struct LedgerSums {
  MicroCredits sum = 0;                         // Sum of the balances of all accounts.
  MicroCredits issued = 0;                      // Credits issued since the start.
  MicroCredits settled = 0;                     // Credits settled since the start.
  std::map<PublicKey, std::uint64_t> credited;  // Credits in the journal, by client.
};

class SettlementWatch {
 public:
  // The clients and stakers whose accounts are read at every check: at most 80.
  struct Watched {
    std::vector<PublicKey> clients;
    std::vector<PublicKey> stakers;
  };
  SettlementWatch(const SettlementLine& line, const Watched& watched);

  // Returns the first broken condition as a sentence, or an empty text. Fails only with the node's
  // errors.
  [[nodiscard]] Result<std::string> look(const SimulatedBooks& books, const LedgerSums& ledger);
  [[nodiscard]] std::uint64_t looks() const { return looks_; }

 private:
  const SettlementLine& line_;
  std::vector<PublicKey> keys_;  // Config, mint, vault, stake vault, escrows, stakes.
  std::size_t clients_ = 0;
  std::uint64_t looks_ = 0;
};

}  // namespace weft::cli
