// `weft chain deploy`: deploys the program through the upgradeable loader. Every step may be
// repeated: the buffer's key is derived from the wallet and the program's bytes, so an interrupted
// deployment continues with the buffer's contents.
#include <algorithm>
#include <cstdio>
#include <thread>

#include "apps/cli/exit_code.h"
#include "apps/cli/files.h"
#include "apps/cli/settlement/act.h"
#include "apps/cli/wallet_choice.h"
#include "common/crypto/sha256.h"
#include "common/crypto/wallet.h"
#include "common/solana/address.h"
#include "common/solana/instructions.h"

namespace weft::cli {
namespace {

constexpr std::size_t program_bytes_max = 10 << 20;
constexpr int write_rounds_max = 10;
constexpr std::chrono::seconds write_round_time{20};

struct Deploying {
  const SettlementOptions& options;
  chain::Rpc& rpc;
  chain::Sender& sender;
  const crypto::KeyPair& wallet;
  const crypto::KeyPair& program;
  const crypto::KeyPair& buffer;
  ByteSpan elf;
};

Result<crypto::KeyPair> buffer_key(const crypto::KeyPair& wallet, ByteSpan elf) {
  const ByteVector secret = wallet.seed();
  return crypto::KeyPair::from_seed(crypto::Sha256()
                                        .update(as_bytes(std::string_view("weft-buffer-1")))
                                        .update(secret)
                                        .update(crypto::sha256(elf).span())
                                        .finish()
                                        .span());
}

Result<ByteVector> program_file(const SettlementOptions& options) {
  WEFT_ASSIGN(ByteVector elf, read_file(options.elf));
  if (elf.size() < 64 || elf.size() > program_bytes_max || elf[0] != 0x7f || elf[1] != 'E')
    return fail(
        ErrorCode::invalid_argument,
        "{} is not a compiled on-chain program; scripts/build chain makes build/chain/weft.so.",
        options.elf.string());
  return elf;
}

// Returns the offsets of the program's parts that the buffer does not hold yet.
Result<std::vector<std::size_t>> unwritten(const Deploying& d) {
  WEFT_ASSIGN(const auto found, d.rpc.account(d.buffer.public_key()));
  if (!found || found->data.size() < solana::loader_buffer_head + d.elf.size())
    return fail(
        ErrorCode::unavailable,
        "The node does not show the buffer account {} in its full size; run the command again.",
        d.buffer.public_key().text());
  const ByteSpan held = ByteSpan(found->data).subspan(solana::loader_buffer_head);
  std::vector<std::size_t> out;
  for (std::size_t at = 0; at < d.elf.size(); at += solana::loader_write_max) {
    const std::size_t size = std::min(solana::loader_write_max, d.elf.size() - at);
    if (!std::ranges::equal(held.subspan(at, size), d.elf.subspan(at, size))) out.push_back(at);
  }
  return out;
}

chain::Plan write_plan(const Deploying& d, std::size_t at) {
  const std::size_t size = std::min(solana::loader_write_max, d.elf.size() - at);
  return {.instructions = {solana::write_buffer(d.buffer.public_key(), d.wallet.public_key(),
                                                static_cast<std::uint32_t>(at),
                                                d.elf.subspan(at, size))},
          .payer = &d.wallet};
}

// Writes parts at once and in any order; parts that are missing after a while are written again.
Result<> write_parts(const Deploying& d) {
  WEFT_ASSIGN(std::vector<std::size_t> missing, unwritten(d));
  for (int round = 0; round < write_rounds_max && !missing.empty(); ++round) {
    WEFT_ASSIGN(const chain::Quote quote, d.sender.quote(write_plan(d, missing.front())));
    for (const std::size_t at : missing) {
      // A node that does not answer may still have written the part, which unwritten() finds out.
      const auto launched = d.sender.launch(write_plan(d, at), quote);
      if (!launched && launched.error().code != ErrorCode::unavailable &&
          launched.error().code != ErrorCode::deadline_exceeded)
        return std::unexpected(launched.error());
    }
    const Instant until = now() + write_round_time;
    while (!missing.empty() && now() < until) {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      if (auto left = unwritten(d)) missing = std::move(*left);
    }
  }
  if (missing.empty()) return {};
  return fail(ErrorCode::unavailable,
              "{} parts of the program could not be written; run the command again to go on.",
              missing.size());
}

// Returns the bytes that the chain runs under the program's address; nullopt if no program is
// deployed there.
Result<std::optional<ByteVector>> deployed_bytes(chain::Rpc& rpc, const PublicKey& program) {
  WEFT_ASSIGN(const auto found, rpc.account(program));
  if (!found || found->owner != solana::upgradeable_loader()) return std::nullopt;
  WEFT_ASSIGN(auto data, rpc.account(solana::program_data_address(program)));
  if (!data || data->data.size() < solana::loader_data_head)
    return fail(ErrorCode::data_loss, "The node does not show the code of the deployed program {}.",
                program.text());
  data->data.erase(data->data.begin(), data->data.begin() + solana::loader_data_head);
  return data->data;
}

bool same_program(ByteSpan deployed, ByteSpan elf) {
  return deployed.size() >= elf.size() && std::ranges::equal(deployed.first(elf.size()), elf) &&
         std::ranges::all_of(deployed.subspan(elf.size()), [](auto byte) { return byte == 0; });
}

struct DeployPlans {
  std::optional<chain::Plan> make_buffer;  // Creates the buffer; nullopt if it exists.
  chain::Plan deploy;
};
Result<DeployPlans> deploy_plans(const Deploying& d, Costs& costs) {
  DeployPlans out;
  const PublicKey payer = d.wallet.public_key(), buffer = d.buffer.public_key();
  const std::size_t buffer_bytes = solana::loader_buffer_head + d.elf.size();
  WEFT_ASSIGN(const auto there, d.rpc.account(buffer));
  if (!there) {
    WEFT_ASSIGN(const chain::Lamports rent, d.rpc.rent_of(buffer_bytes));
    out.make_buffer = chain::Plan{
        .instructions = {solana::create_account({.payer = payer,
                                                 .address = buffer,
                                                 .lamports = rent,
                                                 .bytes = buffer_bytes,
                                                 .owner = solana::upgradeable_loader()}),
                         solana::initialize_buffer(buffer, payer)},
        .payer = &d.wallet,
        .signers = {&d.buffer}};
    costs.transactions += 1;
    costs.fees += 2 * chain::lamports_a_signature;
  }
  const std::size_t writes =
      (d.elf.size() + solana::loader_write_max - 1) / solana::loader_write_max;
  WEFT_ASSIGN(const chain::Lamports program_rent, d.rpc.rent_of(solana::loader_program_bytes));
  WEFT_ASSIGN(const chain::Lamports data_rent,
              d.rpc.rent_of(solana::loader_data_head + d.elf.size()));
  out.deploy = {.instructions = {solana::create_account({.payer = payer,
                                                         .address = d.program.public_key(),
                                                         .lamports = program_rent,
                                                         .bytes = solana::loader_program_bytes,
                                                         .owner = solana::upgradeable_loader()}),
                                 solana::deploy_program({.payer = payer,
                                                         .program = d.program.public_key(),
                                                         .buffer = buffer,
                                                         .authority = payer,
                                                         .bytes_max = d.elf.size()})},
                .payer = &d.wallet,
                .signers = {&d.program}};
  if (d.options.final)
    out.deploy.instructions.push_back(
        solana::set_upgrade_authority(d.program.public_key(), payer, nullptr));
  std::uint64_t price = 0;
  if (d.options.micro_lamports) {
    price = *d.options.micro_lamports;
  } else {
    WEFT_ASSIGN(price, d.rpc.priority_fee({}));
  }
  constexpr std::uint64_t units_of_each = 20'000;
  costs.transactions += writes + 1;
  costs.fees += writes * chain::lamports_a_signature + 2 * chain::lamports_a_signature +
                (costs.transactions * units_of_each * price + 999'999) / 1'000'000;
  costs.rent += program_rent + data_rent;  // Without the buffer's rent, which is returned.
  return out;
}

Result<> print_deployed(const SettlementOptions& options, const PublicKey& program,
                        const Costs& costs, bool sent) {
  if (options.json) {
    std::printf("{%s,\"sent\":%s,\"program\":\"%s\"}\n", costs_json(costs).c_str(),
                sent ? "true" : "false", program.text().c_str());
  } else {
    std::printf("The program %s is %s.\n", program.text().c_str(),
                sent ? "deployed" : "deployed already, with these bytes");
  }
  return {};
}

Result<> deploy(const SettlementOptions& options) {
  WEFT_ASSIGN(const auto rpc, settlement_node(options));
  WEFT_ASSIGN(const crypto::KeyPair wallet, wallet_there(options.wallet));
  WEFT_ASSIGN(const ByteVector elf, program_file(options));
  WEFT_ASSIGN(const crypto::KeyPair program, crypto::load_or_create_wallet(options.program_key));
  WEFT_ASSIGN(const crypto::KeyPair buffer, buffer_key(wallet, elf));
  WEFT_ASSIGN(chain::Sender sender, sender_for(options, *rpc));
  const Deploying d{options, *rpc, sender, wallet, program, buffer, elf};
  WEFT_ASSIGN(const auto deployed, deployed_bytes(*rpc, program.public_key()));
  if (deployed && same_program(*deployed, elf))
    return print_deployed(options, program.public_key(), {}, false);
  if (deployed)
    return fail(ErrorCode::already_exists,
                "Another program is deployed as {}; name another --program-key file.",
                program.public_key().text());
  Costs costs;
  WEFT_ASSIGN(const DeployPlans plans, deploy_plans(d, costs));
  WEFT_ASSIGN(
      const bool go,
      agreed(options,
             {weft::format(
                 "Deploys {} bytes as the program {}{}.", elf.size(), program.public_key().text(),
                 options.final ? ", which no key can change after that"
                               : "; the wallet may replace it later (--final: no key may)")},
             costs));
  if (!go) return {};
  WEFT_OK(has_lamports(*rpc, wallet.public_key(), costs.fees + costs.rent));
  if (plans.make_buffer) {
    WEFT_ASSIGN(const chain::Quote quote, sender.quote(*plans.make_buffer));
    WEFT_OK(sender.send(*plans.make_buffer, quote));
  }
  WEFT_OK(write_parts(d));
  WEFT_ASSIGN(const chain::Quote quote, sender.quote(plans.deploy));
  WEFT_OK(sender.send(plans.deploy, quote));
  return print_deployed(options, program.public_key(), costs, true);
}

}  // namespace

int chain_deploy_command(const SettlementOptions& options) {
  const auto done = deploy(options);
  return done ? 0 : report("chain deploy", done.error());
}

}  // namespace weft::cli
