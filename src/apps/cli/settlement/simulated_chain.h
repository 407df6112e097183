// The chain of the simulation: the real virtual machine with the node of chain/tests/rpc.mjs, which
// this class starts, and a network that `weft chain deploy` and `init` have made on it.
//
// Threading: one thread. Lifetime: the node ends with this object.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "apps/cli/child_process.h"
#include "apps/cli/scratch_folder.h"
#include "apps/cli/settlement/line.h"
#include "common/crypto/keys.h"

namespace weft::cli {

class SimulatedChain {
 public:
  struct Founding {
    std::filesystem::path elf;  // File of the on-chain program.
    // Amounts of the config in credits.
    std::uint64_t initial = 0, founders = 0, emission = 0, halving_epochs = 1;
    PublicKey poster;
    std::vector<PublicKey> guardians;
  };
  // Starts the node. Fails with not_found if Node, the node's script, its packages or the program
  // are missing; the message names the command that makes them.
  [[nodiscard]] static Result<std::unique_ptr<SimulatedChain>> start(const Founding& founding);

  [[nodiscard]] chain::Rpc& rpc() { return *line_.rpc; }
  [[nodiscard]] const solana::Network& network() const { return line_.network; }
  [[nodiscard]] const SettlementLine& line() const { return line_; }
  // The founders' wallet, which pays all fees and is also the coordinator's.
  [[nodiscard]] const crypto::KeyPair& founder() const { return founder_; }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_->path(); }

  [[nodiscard]] Result<> give_lamports(const PublicKey& to);
  // Signs for the founder and `signers`, sends, and follows the transaction. Fails with
  // permission_denied, and the program's own message, if it landed and failed.
  [[nodiscard]] Result<> deliver(std::span<const solana::Instruction> instructions,
                                 std::span<const crypto::KeyPair* const> signers);
  [[nodiscard]] Result<> warp(std::uint64_t seconds);
  // Advances the chain by a number of slots.
  [[nodiscard]] Result<> advance(std::uint64_t slots);
  // Takes back the last `transactions` transactions.
  [[nodiscard]] Result<> fork(std::size_t transactions);
  // Writes bytes of an account without an instruction, to plant a defect.
  [[nodiscard]] Result<> patch(const PublicKey& account, std::size_t at, ByteSpan bytes);
  // Reads the program's config again.
  [[nodiscard]] Result<> refresh();

 private:
  SimulatedChain(std::unique_ptr<ScratchFolder> folder, std::unique_ptr<ChildProcess> node,
                 crypto::KeyPair founder, SettlementLine line)
      : folder_(std::move(folder)),
        node_(std::move(node)),
        founder_(std::move(founder)),
        line_(std::move(line)) {}

  std::unique_ptr<ScratchFolder> folder_;
  std::unique_ptr<ChildProcess> node_;
  crypto::KeyPair founder_;
  SettlementLine line_;
};

}  // namespace weft::cli
