// A settlement network for a command: a node, the program and the mint, the config that was read,
// and the wallet that signs and pays.
#pragma once

#include <memory>
#include <optional>

#include "apps/cli/settlement/options.h"
#include "common/crypto/keys.h"
#include "common/solana/digests.h"
#include "common/solana/program.h"
#include "platform/chain/sender.h"

namespace weft::cli {

// Connects to the node only, for deploy and init, which run before the network exists.
[[nodiscard]] Result<std::unique_ptr<chain::Rpc>> settlement_node(const SettlementOptions& options);
// The chain's own clock, in seconds since 1970.
[[nodiscard]] Result<std::uint64_t> chain_time(chain::Rpc& rpc);
// Tokens in an account of the token program; 0 if there is none.
[[nodiscard]] Result<std::uint64_t> tokens_in(chain::Rpc& rpc, const PublicKey& account);

struct SettlementLine {
  std::unique_ptr<chain::Rpc> rpc;
  solana::Network network;
  PublicKey config_address;
  solana::ProgramState config;

  // Makes a call with the accounts that the config knows already filled in.
  [[nodiscard]] solana::ProgramCall call(std::string_view name) const;
  [[nodiscard]] PublicKey tokens_of(const PublicKey& wallet) const;
  [[nodiscard]] solana::SigningPlace signing_place() const;
  // Returns nullopt if the account does not exist.
  [[nodiscard]] Result<std::optional<solana::ProgramState>> state(std::string_view kind,
                                                                  const PublicKey& address) const;
  // Reads all accounts of one kind of the network, in the state of the given confirmation level.
  // With `of`, reads only the accounts that name this key after the config, such as an owner's
  // devices or a device's receipts.
  struct StatesAt {
    std::uint64_t slot = 0;
    std::vector<solana::ProgramState> states;
  };
  [[nodiscard]] Result<StatesAt> states(std::string_view kind, chain::Confirmation level,
                                        const std::optional<PublicKey>& of = {}) const;
  [[nodiscard]] Result<std::uint64_t> rent_of_state(std::string_view kind) const;
  // Returns the rent of an account that does not exist yet; 0 for an existing one.
  [[nodiscard]] Result<std::uint64_t> rent_if_missing(const PublicKey& address,
                                                      std::size_t bytes) const;
  // Returns a field of one epoch of the ring in the config.
  [[nodiscard]] std::uint64_t epoch_number(std::uint64_t slot, std::string_view field) const;
  [[nodiscard]] PublicKey epoch_root(std::uint64_t slot) const;
  [[nodiscard]] solana::EpochState epoch_state(std::uint64_t slot) const;
  // The slot of the root that is in its challenge window. Fails with not_found if no root is in its
  // window.
  [[nodiscard]] Result<std::uint64_t> pending_slot() const;
};
// Completes options that were not given from the network's file.
[[nodiscard]] Result<SettlementOptions> with_network_file(SettlementOptions options);
// Reads the network that the options name. Fails with not_found if the node does not have it, and
// with invalid_argument if the options do not name a network or name one of another cluster.
[[nodiscard]] Result<SettlementLine> settlement_line(const SettlementOptions& options);
// Writes the file that describes the network. `init` writes it, and the other commands read it.
[[nodiscard]] Result<> write_network_file(const SettlementOptions& options, chain::Rpc& rpc,
                                          const solana::Network& network);

}  // namespace weft::cli
