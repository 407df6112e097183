// The options of the `weft chain` commands.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/base/ids.h"
#include "platform/net/client.h"

namespace weft::cli {

struct SettlementOptions {
  // The network: a file that names its node, program and mint, or these three values as options.
  std::filesystem::path network;
  std::string rpc;
  net::TlsOptions tls;
  std::string program;
  std::string mint;
  std::string genesis;  // Genesis hash of the cluster, from the network's file.
  // The wallet that signs and pays, the confirmation level, and the form of the output.
  std::filesystem::path wallet;
  std::string level = "confirmed";
  std::optional<std::uint64_t> micro_lamports;
  bool yes = false;
  bool dry_run = false;
  bool json = false;

  // Options of `deploy` and `init`.
  std::filesystem::path elf, program_key, mint_key, out;
  bool final = false;
  std::string poster, coordinator, founders;
  std::vector<std::string> guardians;
  unsigned guardian_quorum = 1;
  std::optional<std::uint64_t> genesis_time;
  double epoch_hours = 24;
  std::string emission = "1000", cap = "10000000", initial = "1000000", founders_amount = "0";
  std::uint64_t halving_epochs = 365;
  std::vector<std::string> parameters;  // Parameters as NAME=VALUE.

  // Options of credit, stakes, settle and rows, which also use `coordinator` as its URL.
  net::TlsOptions coordinator_tls;
  std::filesystem::path data;

  // Amounts, names and files of all other commands.
  std::string amount;
  std::string owner;
  std::string target;
  std::string word;
  std::uint64_t number = 0;
  std::filesystem::path rows, previous, against, message, coordinator_wallet, relays;
  // relay: units that a SOL of fees takes, least claim to send, and number of claims.
  std::uint64_t units_a_sol = 0;
  std::string at_least = "1";
  std::size_t most = 100;
  std::string new_tokens;  // post: the credits that the epoch emits; empty: as in the rows.
  std::optional<std::uint64_t> epoch;  // rows: the epoch whose emission the rows share.
  std::vector<std::filesystem::path> guardian_wallets;
  bool finish = false;
  bool voids = false;
  bool thaws = false;
  std::string session, worker, root;
};

// Converts credits with up to six decimals exactly to micro-credits, or fails with
// invalid_argument.
[[nodiscard]] Result<std::uint64_t> parse_credits(const std::string& text);
[[nodiscard]] std::string credits_text(std::uint64_t micro_credits);
[[nodiscard]] std::string sol_text(std::uint64_t lamports);
// Reads a key. Fails with invalid_argument; `what` names the key in the message.
[[nodiscard]] Result<PublicKey> parse_key(const std::string& text, std::string_view what);

// Each function runs one command and returns its exit code.
int chain_deploy_command(const SettlementOptions& options);
int chain_init_command(const SettlementOptions& options);
int chain_status_command(const SettlementOptions& options);
int chain_sign_statement_command(const SettlementOptions& options);
int chain_deposit_command(const SettlementOptions& options);
int chain_withdraw_command(const SettlementOptions& options);
int chain_voucher_command(const SettlementOptions& options);
int chain_charge_command(const SettlementOptions& options);
int chain_credit_command(const SettlementOptions& options);
int chain_stakes_command(const SettlementOptions& options);
int chain_settle_command(const SettlementOptions& options);
int chain_rows_command(const SettlementOptions& options);
int chain_stake_command(const SettlementOptions& options);
int chain_unstake_command(const SettlementOptions& options);
int chain_rewards_command(const SettlementOptions& options);
int chain_post_command(const SettlementOptions& options);
int chain_finalise_command(const SettlementOptions& options);
int chain_claim_command(const SettlementOptions& options);
int chain_relay_command(const SettlementOptions& options);
int chain_verify_command(const SettlementOptions& options);
int chain_demand_command(const SettlementOptions& options);
int chain_answer_command(const SettlementOptions& options);
int chain_void_command(const SettlementOptions& options);
int chain_order_command(const SettlementOptions& options);
int chain_sum_command(const SettlementOptions& options);
int chain_fell_command(const SettlementOptions& options);
int chain_slash_command(const SettlementOptions& options);
int chain_statement_command(const SettlementOptions& options);
int chain_freeze_command(const SettlementOptions& options);
int chain_decide_command(const SettlementOptions& options);
int chain_propose_command(const SettlementOptions& options);
int chain_vote_command(const SettlementOptions& options);
int chain_execute_command(const SettlementOptions& options);
int chain_device_command(const SettlementOptions& options);
int chain_receipt_command(const SettlementOptions& options);
int chain_close_receipt_command(const SettlementOptions& options);
int chain_receipt_list_command(const SettlementOptions& options);

}  // namespace weft::cli
