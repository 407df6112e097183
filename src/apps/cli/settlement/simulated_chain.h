// A chain that the simulation plays on: the real virtual machine behind the node of
// chain/tests/rpc.mjs, which this starts, and a network on it that `weft chain deploy` and `init`
// have made.
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
    std::filesystem::path elf;                                                  // The program.
    std::uint64_t initial = 0, founders = 0, emission = 0, halving_epochs = 1;  // Credits.
    PublicKey poster;
    std::vector<PublicKey> guardians;
  };
  // not_found if Node, the node's script, its packages or the program are missing: the sentence
  // says which command makes them.
  [[nodiscard]] static Result<std::unique_ptr<SimulatedChain>> start(const Founding& founding);

  [[nodiscard]] chain::Rpc& rpc() { return *line_.rpc; }
  [[nodiscard]] const solana::Network& network() const { return line_.network; }
  [[nodiscard]] const SettlementLine& line() const { return line_; }
  // The founders' wallet, which pays all fees and is the coordinator.
  [[nodiscard]] const crypto::KeyPair& founder() const { return founder_; }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_->path(); }

  [[nodiscard]] Result<> give_lamports(const PublicKey& to);
  // Signs for the founder and `signers`, sends, and sees what became of it: permission_denied with
  // the program's own sentence where it landed and failed.
  [[nodiscard]] Result<> deliver(std::span<const solana::Instruction> instructions,
                                 std::span<const crypto::KeyPair* const> signers);
  [[nodiscard]] Result<> warp(std::uint64_t seconds);
  // Lets slots pass.
  [[nodiscard]] Result<> advance(std::uint64_t slots);
  // The last transactions never were.
  [[nodiscard]] Result<> fork(std::size_t transactions);
  // Bytes of an account that no instruction wrote: a planted defect.
  [[nodiscard]] Result<> patch(const PublicKey& account, std::size_t at, ByteSpan bytes);
  // Reads the config again.
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
