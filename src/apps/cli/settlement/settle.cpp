// `weft chain settle` moves an owner's free credits out of the ledger. `weft chain rows` makes the
// rows of the next epoch from settled credits.
#include <algorithm>
#include <cstdio>
#include <numeric>

#include "apps/cli/api_client.h"
#include "apps/cli/exit_code.h"
#include "apps/cli/files.h"
#include "apps/cli/settlement/epochs.h"
#include "apps/cli/settlement/line.h"
#include "apps/cli/settlement/relay_journal.h"
#include "apps/cli/settlement/settling_file.h"
#include "apps/cli/wallet_choice.h"
#include "decisions/settlement/epoch_rows.h"

namespace weft::cli {
namespace {

namespace api = protocol::api;
__extension__ using Wide = unsigned __int128;  // GCC and Clang both support 128-bit integers.

Result<std::unique_ptr<ApiClient>> coordinator_of(const SettlementOptions& options) {
  return ApiClient::create({.url = options.coordinator, .tls = options.coordinator_tls});
}

Result<> settle(const SettlementOptions& options) {
  WEFT_ASSIGN(const std::uint64_t amount, parse_credits(options.amount));
  WEFT_ASSIGN(const crypto::KeyPair wallet, wallet_there(options.wallet));
  WEFT_ASSIGN(const auto client, coordinator_of(options));
  WEFT_ASSIGN(const PublicKey coordinator, client->coordinator());
  WEFT_ASSIGN(const SettlingFile file, SettlingFile::of(options.wallet));
  WEFT_ASSIGN(const OpenSettling open, file.begin(coordinator, amount));
  auto answer =
      client->requests().post("/v1/owner/settlements", weft::format(R"({{"amount":{}}})", amount),
                              wallet, ByteSpan(open.nonce));
  if (!answer) {
    // The request was refused, so it has not been carried out, now or before.
    if (answer.error().code == ErrorCode::insufficient_funds ||
        answer.error().code == ErrorCode::invalid_argument)
      file.remove();
    return pass(std::move(answer));
  }
  WEFT_ASSIGN(const api::Owner owner, api::from_json<api::Owner>(answer->body));
  if (options.json) {
    std::printf("%s\n", weft::format(R"({{"owner":"{}","settled":{},"free":{}}})", owner.owner,
                                     owner.settled, owner.free)
                            .c_str());
  } else {
    std::printf("%s\n", weft::format("Settled {}: {} has settled {} in all and holds {} free ones. "
                                     "The next epoch pays it.",
                                     credits_text(amount), owner.owner,
                                     credits_text(static_cast<std::uint64_t>(owner.settled)),
                                     credits_text(static_cast<std::uint64_t>(owner.free)))
                            .c_str());
  }
  // The output is flushed before the file is removed, so that a printed settling is not requested
  // again.
  std::fflush(stdout);
  file.remove();
  return {};
}

Result<std::vector<settlement::Settled>> settled_at(ApiClient& client) {
  WEFT_ASSIGN(const api::Settlement answer, client.settlement());
  std::vector<settlement::Settled> out;
  for (const api::SettledOwner& one : answer.owners) {
    WEFT_ASSIGN(const PublicKey owner, PublicKey::parse(one.owner));
    if (one.settled < 0 || one.units < 0)
      return fail(ErrorCode::data_loss, "The coordinator says that {} has settled {} for {} units.",
                  one.owner, one.settled, one.units);
    out.push_back({.owner = owner,
                   .amount = static_cast<std::uint64_t>(one.settled),
                   .units = static_cast<std::uint64_t>(one.units)});
  }
  return out;
}

// Reads the rows of the last epoch that was posted and is not void.
Result<std::vector<solana::Earned>> rows_before(const SettlementOptions& options,
                                                const SettlementLine& line) {
  const std::uint64_t amount = line.config.number("last_amount");
  if (options.previous.empty()) {
    if (amount == 0) return std::vector<solana::Earned>{};
    return fail(ErrorCode::invalid_argument,
                "Epoch {} was posted in this network: name its rows with --previous FILE.",
                line.config.number("last_epoch"));
  }
  WEFT_ASSIGN(auto rows, epoch_rows(options.previous));
  WEFT_ASSIGN(const solana::SumTree tree, solana::SumTree::create(rows));
  const std::uint64_t last = line.config.number("last_epoch");
  const auto refuse = [&](std::string_view what, const std::string& here,
                          const std::string& there) {
    return fail(ErrorCode::invalid_argument,
                "The rows in {} give {} {}; the rows of the last epoch, {}, give {}.",
                options.previous.string(), what, here, last, there);
  };
  if (tree.root().sum != amount)
    return refuse("in all", credits_text(tree.root().sum), credits_text(amount));
  // The emission of single rows is in no leaf, so only its sum can be checked against the chain.
  const std::uint64_t emitted = emission_in(rows);
  if (emitted != line.config.number("emitted"))
    return refuse("an emission of", credits_text(emitted),
                  credits_text(line.config.number("emitted")));
  const std::uint64_t slot = last % solana::epochs_remembered;
  if (line.epoch_number(slot, "epoch") == last &&
      line.epoch_root(slot).bytes != tree.root().hash.bytes)
    return refuse("the root", tree.root().hash.text(), to_hex(line.epoch_root(slot).span()));
  return rows;
}

// Returns the charged amount that an epoch may give to owners, without the emission: all that no
// earlier epoch has given, up to the most that one epoch may take. The on-chain program computes
// the same amount (chain/program/epochs.h, post).
Result<std::uint64_t> available_of(const SettlementLine& line) {
  WEFT_ASSIGN(const std::uint64_t vault, tokens_in(*line.rpc, line.config.key("vault")));
  const std::uint64_t charged = line.config.number("charged") - line.config.number("spends_posted");
  const auto bound =
      static_cast<std::uint64_t>(Wide{vault} * line.config.number("post_bps") / 10'000);
  return std::min(charged, bound);
}

Result<> rows(const SettlementOptions& options) {
  WEFT_ASSIGN(const SettlementLine line, settlement_line(options));
  WEFT_ASSIGN(const auto previous, rows_before(options, line));
  WEFT_ASSIGN(const std::uint64_t available, available_of(line));
  const std::uint64_t emission = options.epoch ? emission_left(line, *options.epoch) : 0;
  WEFT_ASSIGN(const auto client, coordinator_of(options));
  WEFT_ASSIGN(auto settled, settled_at(*client));
  if (!options.relays.empty()) {
    WEFT_ASSIGN(const PublishedRelays relays, read_relays(options.relays));
    if (relays.place.config != line.config_address)
      return fail(ErrorCode::invalid_argument, "The relays in {} are those of another network.",
                  options.relays.string());
    settlement::deduct_relays(settled, relays.relays, relays.place.units_a_sol);
  }
  WEFT_ASSIGN(
      const settlement::EpochRows next,
      settlement::next_rows(previous, settled, {.available = available, .emission = emission}));
  WEFT_OK(write_file(options.out, as_bytes(solana::owner_rows_text(next.rows))));
  if (options.json) {
    std::printf("%s\n",
                weft::format(R"({{"owners":{},"given":{},"waiting":{},"charged":{},"emitted":{}}})",
                             next.rows.size(), next.given, next.waiting, available, next.emitted)
                    .c_str());
    return {};
  }
  std::printf("%s\n",
              weft::format("{} owners get {} more than before, and {} of emission.",
                           next.rows.size(), credits_text(next.given), credits_text(next.emitted))
                  .c_str());
  if (next.waiting > 0)
    std::printf("%s\n",
                weft::format("{} wait for a later epoch: one epoch may give {}, which is what "
                             "vouchers have charged and at most {:.2f} % of the vault.",
                             credits_text(next.waiting), credits_text(available),
                             static_cast<double>(line.config.number("post_bps")) / 100)
                    .c_str());
  return {};
}

int settle_done(const char* command, const Result<>& done) {
  return done ? 0 : report(command, done.error());
}

}  // namespace

std::uint64_t emission_in(std::span<const solana::Earned> rows) {
  return std::accumulate(
      rows.begin(), rows.end(), std::uint64_t{0},
      [](std::uint64_t sum, const solana::Earned& row) { return sum + row.emission; });
}

std::uint64_t emission_left(const SettlementLine& line, std::uint64_t epoch) {
  return settlement::emission_of(
      {.first = line.config.number("emission_first"),
       .halving_epochs = line.config.number("halving_epochs"),
       .left = line.config.number("cap") - line.config.number("initial") -
               line.config.number("emitted")},
      epoch);
}

int chain_settle_command(const SettlementOptions& options) {
  return settle_done("chain settle", settle(options));
}
int chain_rows_command(const SettlementOptions& options) {
  return settle_done("chain rows", rows(options));
}

}  // namespace weft::cli
