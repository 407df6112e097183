// Runs the transactions of a `weft chain` command. All costs are shown before anything is signed,
// and the user or --yes agrees to them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apps/cli/settlement/line.h"

namespace weft::cli {

struct Act {
  std::string what;  // Description of the transaction.
  chain::Plan plan;
  chain::Lamports rent = 0;  // Rent of the accounts that the transaction creates.
  bool after = false;        // True if it can be simulated only after earlier acts have landed.
};
struct Costs {
  std::size_t transactions = 0;
  chain::Lamports fees = 0;
  chain::Lamports rent = 0;
};

// `keep` receives each signed transaction before it is sent (Sender::Options).
[[nodiscard]] Result<chain::Sender> sender_for(
    const SettlementOptions& options, chain::Rpc& rpc,
    std::function<Result<>(const chain::SignedTransaction&)> keep = {});
// Prints the costs and asks the user. Returns false for --dry-run, which ends the command. Fails
// with invalid_argument without a terminal, cancelled if the answer is no.
[[nodiscard]] Result<bool> agreed(const SettlementOptions& options,
                                  const std::vector<std::string>& what, const Costs& costs);
// Returns for example "transactions":3,"fee_lamports":15000,"rent_lamports":0.
[[nodiscard]] std::string costs_json(const Costs& costs);

// Shows the costs, asks, sends the acts in their order, and prints those that landed: as JSON
// followed by `extra` (members, without a leading comma), or as text with `closing` at the end. A
// transaction that an interrupted command had signed is followed first (sent_file.h); if it is one
// of `acts`, that act is not sent again.
[[nodiscard]] Result<> carry_out(const SettlementOptions& options, chain::Rpc& rpc,
                                 const std::vector<Act>& acts, const std::string& extra,
                                 const std::string& closing);

// A network and the wallet that acts and pays in it.
struct WalletLine {
  SettlementLine line;
  crypto::KeyPair wallet;

  [[nodiscard]] PublicKey own() const { return wallet.public_key(); }
  [[nodiscard]] PublicKey own_tokens() const { return line.tokens_of(own()); }
};
[[nodiscard]] Result<WalletLine> wallet_line(const SettlementOptions& options);

// The parts of a transaction besides its one call of the on-chain program: the sentence for the
// user, rent, signers other than the wallet, instructions before the call, and members for the JSON
// output.
struct OneCall {
  std::string what;
  chain::Lamports rent = 0;
  std::vector<const crypto::KeyPair*> signers = {};
  std::vector<solana::Instruction> before = {};
  std::string extra = {};
};
[[nodiscard]] Result<> call_once(const SettlementOptions& options, const WalletLine& own,
                                 const solana::ProgramCall& call, OneCall more);
// Makes a call into an act, for a command with several acts.
[[nodiscard]] Result<Act> act_of(const WalletLine& own, const solana::ProgramCall& call,
                                 OneCall more);
// Checks the wallet's balance before a transaction is tried. Fails with permission_denied if the
// wallet has too few tokens or too little SOL.
[[nodiscard]] Result<> has_tokens(const WalletLine& own, std::uint64_t amount);
[[nodiscard]] Result<> has_lamports(chain::Rpc& rpc, const PublicKey& wallet,
                                    chain::Lamports least);
// Fails with not_found if the wallet has no account of the program of this kind at the address.
// `what` names the account in the message, such as "stake".
[[nodiscard]] Result<> has_account(const WalletLine& own, std::string_view kind,
                                   const PublicKey& address, std::string_view what);
// Adds the creation of the wallet's own token account to the transaction if the account does not
// exist.
[[nodiscard]] Result<> make_own_tokens(const WalletLine& own, OneCall& more);

}  // namespace weft::cli
