// A simulated settlement for its scenes: the chain, the coordinator, the books of the simulation,
// and the keys of all parties. After every step the sums of money are checked (simulated_books.h).
// The last steps are remembered, so that a fork can take them back and they are repeated.
//
// Threading: one thread. Invariant: books() counts exactly the steps that landed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "apps/cli/settlement/simulate_settlement.h"
#include "apps/cli/settlement/simulated_books.h"
#include "apps/cli/settlement/simulated_chain.h"
#include "apps/cli/settlement/simulated_coordinator.h"
#include "common/solana/instructions.h"

namespace weft::cli {

inline constexpr std::uint64_t micro_credits = 1'000'000;  // One credit in micro-credits.
inline constexpr std::uint64_t day = 86'400;               // A day in seconds.

struct SettlementStep {
  std::string what;
  std::vector<solana::Instruction> instructions;
  std::vector<const crypto::KeyPair*> signers;
  std::function<void(SimulatedBooks&)> counts;  // Applies the step to the books.
};

// The keys of all parties, made from a seed.
struct SettlementCast {
  static constexpr std::size_t voters = 8;  // The first stakers vote and keep their stakes.

  std::vector<crypto::KeyPair> clients, stakers, guardians, posters;
  std::vector<PublicKey> owners;  // The last owner is the thief.

  [[nodiscard]] static Result<SettlementCast> create(std::uint64_t seed, std::uint32_t owners);
};

struct SettlementTally {
  std::uint64_t steps = 0, refused = 0, claims = 0, crashes = 0, forks = 0, forked = 0;
  std::uint64_t stolen_most = 0, stolen_bound = 0;
};

class SettlementRun {
 public:
  explicit SettlementRun(const SimulateSettlementOptions& options)
      : options_(options), random_(options.seed) {}

  // Starts the chain and the coordinator. Called once, before all other functions.
  [[nodiscard]] Result<> open();

  // Delivers the step's transaction, applies the step to the books and checks the sums. Fails with
  // data_loss, and sets broken(), if the program refuses the transaction or a sum is wrong.
  [[nodiscard]] Result<> step(SettlementStep step);
  // Delivers a step, and fails unless the program refuses it with a message that contains `check`.
  [[nodiscard]] Result<> refused(std::string_view what, const SettlementStep& step,
                                 std::string_view check);
  // Applies a step that was delivered by other means to the books.
  void landed(const SettlementStep& step);
  [[nodiscard]] Result<> look(std::string_view after);
  // Takes back the last transactions of the chain, then repeats each step that was among them.
  [[nodiscard]] Result<> fork();
  [[nodiscard]] Result<> broken_by(std::string text);
  [[nodiscard]] const std::string& broken() const { return broken_; }

  [[nodiscard]] SimulatedChain& chain() { return *chain_; }
  [[nodiscard]] SimulatedCoordinator& coordinator() { return *coordinator_; }
  [[nodiscard]] const SettlementLine& line() const { return chain_->line(); }
  [[nodiscard]] Result<solana::Instruction> built(const solana::ProgramCall& call) {
    return call.build(chain_->network().program);
  }
  [[nodiscard]] const SimulatedBooks& books() const { return books_; }
  // The amount that the client was charged since the start.
  [[nodiscard]] std::uint64_t charged_by(const PublicKey& client) const;
  [[nodiscard]] const SettlementCast& cast() const { return cast_; }
  [[nodiscard]] SettlementTally& tally() { return tally_; }
  [[nodiscard]] const SettlementTally& tally() const { return tally_; }
  [[nodiscard]] std::uint64_t looks() const { return watch_ ? watch_->looks() : 0; }

  [[nodiscard]] const SimulateSettlementOptions& options() const { return options_; }
  // True if this defect is planted.
  [[nodiscard]] bool plants(std::string_view defect) const { return options_.plant == defect; }
  // The epoch at this share of the run.
  [[nodiscard]] std::uint32_t at(double share) const {
    return std::max(1U, static_cast<std::uint32_t>(share * options_.epochs));
  }
  // A number below `bound` from the seed's sequence.
  [[nodiscard]] std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  [[nodiscard]] std::mt19937_64& random() { return random_; }

 private:
  // A step, or a failed transaction, that a fork can take back, and the books before it.
  struct Landed {
    SimulatedBooks before;
    std::optional<SettlementStep> step;
  };
  void remember(Landed landed);

  const SimulateSettlementOptions options_;
  std::mt19937_64 random_;
  SettlementCast cast_;
  std::unique_ptr<SimulatedChain> chain_;
  std::optional<SimulatedCoordinator> coordinator_;
  std::optional<SettlementWatch> watch_;
  SimulatedBooks books_;
  std::deque<Landed> landed_;
  SettlementTally tally_;
  std::string broken_;
};

}  // namespace weft::cli
