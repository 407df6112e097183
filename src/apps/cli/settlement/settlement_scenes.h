// The scenes of a simulated settlement, each of one aspect: money in and out, charges and work,
// epochs, claims, and a vote. Each scene adds its steps to a SettlementRun; every function fails as
// SettlementRun::step() does.
//
// Threading: one thread. Lifetime: the run outlives its scenes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "apps/cli/settlement/settlement_run.h"
#include "common/solana/sum_tree.h"

namespace weft::cli {

// Moves tokens, deposits and stakes in and out (money_scene.cpp).
class MoneyScene {
 public:
  explicit MoneyScene(SettlementRun& run) : run_(run) {}

  // Gives tokens to every client, staker and poster; clients deposit, stakers stake.
  [[nodiscard]] Result<> found();
  // Makes a withdrawal, and a stake that begins to unbond, or that has left and is staked again.
  [[nodiscard]] Result<> ways_out();

 private:
  [[nodiscard]] Result<> give_tokens(const PublicKey& to, std::uint64_t credits);
  [[nodiscard]] Result<> deposit(const crypto::KeyPair& client, std::uint64_t amount);
  [[nodiscard]] Result<> stake(const crypto::KeyPair& staker, std::uint64_t amount);
  [[nodiscard]] Result<> withdraw(const crypto::KeyPair& client, std::uint64_t amount);

  SettlementRun& run_;
};

// Makes credits from vouchers, and work that is paid with them (charge_scene.cpp).
class ChargeScene {
 public:
  explicit ChargeScene(SettlementRun& run) : run_(run) {}

  [[nodiscard]] Result<> charges_and_credits(std::uint32_t epoch);
  [[nodiscard]] Result<> work_and_settle(std::uint32_t epoch);
  [[nodiscard]] Result<> charge(const crypto::KeyPair& client, std::uint64_t amount);
  // Issues credits for charges that are final on the chain; with a crash if requested.
  [[nodiscard]] Result<> credit(SimulatedCoordinator::Crash crash);
  // Advances time until charges are final.
  [[nodiscard]] Result<> wait_for_final();

 private:
  [[nodiscard]] Result<std::vector<SimulatedCoordinator::Charged>> charged_on_chain();

  SettlementRun& run_;
};

// Posts the roots of epochs and makes them final; in one epoch a thief posts a root
// (epoch_scene.cpp).
class EpochScene {
 public:
  explicit EpochScene(SettlementRun& run) : run_(run) {}

  [[nodiscard]] Result<> post_and_finalise(std::uint32_t epoch);
  // Posts an epoch. With `crash` the coordinator ends after the transaction was signed, kept and
  // sent, and continues from its disk.
  [[nodiscard]] Result<> post(std::uint32_t epoch, bool crash);
  [[nodiscard]] Result<> finalise(std::uint32_t epoch);

 private:
  struct Posting {
    std::shared_ptr<const solana::SumTree> tree;
    std::uint64_t emission = 0;
  };
  // The amount that the chain lets the next root give beyond its emission.
  [[nodiscard]] Result<std::uint64_t> available();
  [[nodiscard]] Result<Posting> next_posting(std::uint32_t epoch);
  [[nodiscard]] Result<SettlementStep> post_step(std::uint32_t epoch, const Posting& posting,
                                                 const crypto::KeyPair& poster);
  // A thief has the posting key for one window. A client voids a root that takes unclaimed earnings
  // from an owner, without a guardian. Then the thief gives itself all that the program allows; a
  // guardian freezes that root before two guardians void it.
  [[nodiscard]] Result<> theft(std::uint32_t epoch);
  [[nodiscard]] Result<> taking(std::uint32_t epoch);
  // A root that gives an owner's amount to the thief, with the totals of the final root.
  [[nodiscard]] Posting taken_from(const PublicKey& owner);
  [[nodiscard]] Result<SettlementStep> show_step(const solana::SumTree& tree, std::uint64_t slot,
                                                 const PublicKey& owner,
                                                 const crypto::KeyPair& payer);
  [[nodiscard]] Result<SettlementStep> fell_step(const Posting& taken, const PublicKey& owner,
                                                 const crypto::KeyPair& payer);
  // A root that additionally gives `stolen` and `minted` to the thief.
  [[nodiscard]] Result<Posting> forged(std::uint64_t stolen, std::uint64_t minted);
  // Checks that the posting key is worth at most an emission and a twentieth of the vault.
  [[nodiscard]] Result<> weigh_theft(std::uint64_t spends, std::uint64_t emission);
  [[nodiscard]] Result<> void_theft(const SettlementStep& too_early);
  [[nodiscard]] Result<SettlementStep> decide_step(std::span<const std::size_t> by);

  SettlementRun& run_;
  std::size_t poster_ = 0;
};

// Claims earnings of the last final epoch (claim_scene.cpp).
class ClaimScene {
 public:
  explicit ClaimScene(SettlementRun& run) : run_(run) {}

  // Lets some owners claim, and some of them try it twice.
  [[nodiscard]] Result<> claims();
  // Lets every owner claim, and checks that each holds the amount of its row.
  [[nodiscard]] Result<> claim_all();

 private:
  [[nodiscard]] Result<> open_page(std::uint32_t page);
  // `pays` is set if the owner is due an amount.
  [[nodiscard]] Result<SettlementStep> claim_step(std::size_t owner, bool pays);
  [[nodiscard]] Result<> claim(std::size_t owner);
  // Writes the effects of a program that forgets its payments into the program's accounts.
  [[nodiscard]] Result<> plant(std::size_t owner);
  [[nodiscard]] Result<> tokens_add_up();

  SettlementRun& run_;
};

// Holds a vote that changes the fee (vote_scene.cpp).
class VoteScene {
 public:
  explicit VoteScene(SettlementRun& run) : run_(run) {}

  [[nodiscard]] Result<> propose_and_vote(std::uint32_t epoch);
  // True if the vote has ended and its proposal can be executed.
  [[nodiscard]] bool is_due(std::uint32_t epoch) const;
  [[nodiscard]] Result<> execute();
  [[nodiscard]] bool executed() const { return executed_; }

 private:
  SettlementRun& run_;
  std::uint32_t voted_at_ = 0;
  bool executed_ = false;
};

}  // namespace weft::cli
