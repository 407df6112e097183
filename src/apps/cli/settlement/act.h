// What a `weft chain` command does to the chain: one or more transactions. All costs are shown
// before anything is signed, and a person agrees to them, or --yes does.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apps/cli/settlement/line.h"

namespace weft::cli {

struct Act {
  std::string what;  // In words: what the wallet signs.
  chain::Plan plan;
  chain::Lamports rent = 0;  // For accounts that it makes.
  bool after = false;        // It can only be tried after those before it have landed.
};
struct Costs {
  std::size_t transactions = 0;
  chain::Lamports fees = 0;
  chain::Lamports rent = 0;
};

// `keep` is given what is signed before it is sent (Sender::Options).
[[nodiscard]] Result<chain::Sender> sender_for(
    const SettlementOptions& options, chain::Rpc& rpc,
    std::function<Result<>(const chain::SignedTransaction&)> keep = {});
// Writes the costs and asks; false for --dry-run, which ends there. invalid_argument if no
// terminal can be asked, cancelled if the answer is no.
[[nodiscard]] Result<bool> agreed(const SettlementOptions& options,
                                  const std::vector<std::string>& what, const Costs& costs);
// "transactions":3,"fee_lamports":15000,"rent_lamports":0
[[nodiscard]] std::string costs_json(const Costs& costs);

// Shows, asks, sends in their order, and prints what landed: as JSON with `extra` (members, without
// a comma before them) behind it, or in words with `closing` at the end. What a command that was
// cut short has signed is followed first (sent_file.h); one of `acts` that it was is not sent
// again.
[[nodiscard]] Result<> carry_out(const SettlementOptions& options, chain::Rpc& rpc,
                                 const std::vector<Act>& acts, const std::string& extra,
                                 const std::string& closing);

// A network and the wallet that acts and pays there.
struct WalletLine {
  SettlementLine line;
  crypto::KeyPair wallet;

  [[nodiscard]] PublicKey own() const { return wallet.public_key(); }
  [[nodiscard]] PublicKey own_tokens() const { return line.tokens_of(own()); }
};
[[nodiscard]] Result<WalletLine> wallet_line(const SettlementOptions& options);

// What a transaction has besides its one call of the on-chain program: the sentence that the user
// sees, rent, signers other than the wallet, instructions before the call, and members for the JSON
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
// The same as part of a command with several.
[[nodiscard]] Result<Act> act_of(const WalletLine& own, const solana::ProgramCall& call,
                                 OneCall more);
// What a command needs, before it is tried: permission_denied if the wallet has fewer tokens, or
// less SOL.
[[nodiscard]] Result<> has_tokens(const WalletLine& own, std::uint64_t amount);
[[nodiscard]] Result<> has_lamports(chain::Rpc& rpc, const PublicKey& wallet,
                                    chain::Lamports least);
// not_found if the wallet has no account of the program of this kind at the address: `what`
// names it, such as "stake".
[[nodiscard]] Result<> has_account(const WalletLine& own, std::string_view kind,
                                   const PublicKey& address, std::string_view what);
// Where tokens go: the wallet's own account, made in the same transaction if there is none.
[[nodiscard]] Result<> make_own_tokens(const WalletLine& own, OneCall& more);

}  // namespace weft::cli
