// The scenes of a simulated settlement, each one side of it: money in and out, charges and work,
// epochs, claims and a vote. Each adds its steps to a SettlementRun; every one fails as
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

// Tokens, deposits and stakes, in and out (money_scene.cpp).
class MoneyScene {
 public:
  explicit MoneyScene(SettlementRun& run) : run_(run) {}

  // Every client, staker and poster gets tokens; clients deposit, stakers stake.
  [[nodiscard]] Result<> found();
  // A withdrawal, and a stake that begins to leave or has left and comes again.
  [[nodiscard]] Result<> ways_out();

 private:
  [[nodiscard]] Result<> give_tokens(const PublicKey& to, std::uint64_t credits);
  [[nodiscard]] Result<> deposit(const crypto::KeyPair& client, std::uint64_t amount);
  [[nodiscard]] Result<> stake(const crypto::KeyPair& staker, std::uint64_t amount);
  [[nodiscard]] Result<> withdraw(const crypto::KeyPair& client, std::uint64_t amount);

  SettlementRun& run_;
};

// From a voucher to credits, and work that is paid with them (charge_scene.cpp).
class ChargeScene {
 public:
  explicit ChargeScene(SettlementRun& run) : run_(run) {}

  [[nodiscard]] Result<> charges_and_credits(std::uint32_t epoch);
  [[nodiscard]] Result<> work_and_settle(std::uint32_t epoch);
  [[nodiscard]] Result<> charge(const crypto::KeyPair& client, std::uint64_t amount);
  // What is charged and final on the chain becomes credits, with a crash if one is asked for.
  [[nodiscard]] Result<> credit(SimulatedCoordinator::Crash crash);
  // Lets as much time pass as it takes until charges are final.
  [[nodiscard]] Result<> wait_for_final();

 private:
  [[nodiscard]] Result<std::vector<SimulatedCoordinator::Charged>> charged_on_chain();

  SettlementRun& run_;
};

// Roots of epochs: posted, made final, and once posted by a thief (epoch_scene.cpp).
class EpochScene {
 public:
  explicit EpochScene(SettlementRun& run) : run_(run) {}

  [[nodiscard]] Result<> post_and_finalise(std::uint32_t epoch);
  // With a crash: the coordinator ends when the transaction is signed, kept and sent, and goes on
  // from what is on the disk.
  [[nodiscard]] Result<> post(std::uint32_t epoch, bool crash);
  [[nodiscard]] Result<> finalise(std::uint32_t epoch);

 private:
  struct Posting {
    std::shared_ptr<const solana::SumTree> tree;
    std::uint64_t emission = 0;
  };
  // What the chain lets the next root give beyond its emission.
  [[nodiscard]] Result<std::uint64_t> available();
  [[nodiscard]] Result<Posting> next_posting(std::uint32_t epoch);
  [[nodiscard]] Result<SettlementStep> post_step(std::uint32_t epoch, const Posting& posting,
                                                 const crypto::KeyPair& poster);
  // A thief has the posting key for one window. A root that takes from an owner what it has not
  // claimed is voided by a client, without a guardian. Then the thief gives itself all that the
  // program lets it; a guardian freezes it before two void it.
  [[nodiscard]] Result<> theft(std::uint32_t epoch);
  [[nodiscard]] Result<> taking(std::uint32_t epoch);
  // A root in which the thief has what an owner had: the same totals as the final one.
  [[nodiscard]] Posting taken_from(const PublicKey& owner);
  [[nodiscard]] Result<SettlementStep> show_step(const solana::SumTree& tree, std::uint64_t slot,
                                                 const PublicKey& owner,
                                                 const crypto::KeyPair& payer);
  [[nodiscard]] Result<SettlementStep> fell_step(const Posting& taken, const PublicKey& owner,
                                                 const crypto::KeyPair& payer);
  // A root that also gives `stolen` and `minted` to the thief.
  [[nodiscard]] Result<Posting> forged(std::uint64_t stolen, std::uint64_t minted);
  // The posting key is worth no more than an emission and a twentieth of the vault.
  [[nodiscard]] Result<> weigh_theft(std::uint64_t spends, std::uint64_t emission);
  [[nodiscard]] Result<> void_theft(const SettlementStep& too_early);
  [[nodiscard]] Result<SettlementStep> decide_step(std::span<const std::size_t> by);

  SettlementRun& run_;
  std::size_t poster_ = 0;
};

// Claims of the last final epoch (claim_scene.cpp).
class ClaimScene {
 public:
  explicit ClaimScene(SettlementRun& run) : run_(run) {}

  // Some owners claim; some of these try it twice.
  [[nodiscard]] Result<> claims();
  // Every owner claims, and holds what its row gives afterwards.
  [[nodiscard]] Result<> claim_all();

 private:
  [[nodiscard]] Result<> open_page(std::uint32_t page);
  // `pays`: the owner is due something.
  [[nodiscard]] Result<SettlementStep> claim_step(std::size_t owner, bool pays);
  [[nodiscard]] Result<> claim(std::size_t owner);
  // The effects of a program that forgets what it paid, written into its accounts.
  [[nodiscard]] Result<> plant(std::size_t owner);
  [[nodiscard]] Result<> tokens_add_up();

  SettlementRun& run_;
};

// A vote that changes the fee (vote_scene.cpp).
class VoteScene {
 public:
  explicit VoteScene(SettlementRun& run) : run_(run) {}

  [[nodiscard]] Result<> propose_and_vote(std::uint32_t epoch);
  // Whether the vote has ended and its proposal can be carried out.
  [[nodiscard]] bool is_due(std::uint32_t epoch) const;
  [[nodiscard]] Result<> execute();
  [[nodiscard]] bool executed() const { return executed_; }

 private:
  SettlementRun& run_;
  std::uint32_t voted_at_ = 0;
  bool executed_ = false;
};

}  // namespace weft::cli
