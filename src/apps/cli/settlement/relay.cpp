// `weft chain relay`: claims the owners' amounts of an epoch at the cost of the operator's wallet,
// and records the cost of each claim (decisions/settlement/relays.h).
#include <cstdio>
#include <map>

#include "apps/cli/exit_code.h"
#include "apps/cli/settlement/act.h"
#include "apps/cli/settlement/epochs.h"
#include "apps/cli/settlement/relay_journal.h"
#include "apps/cli/wallet_choice.h"
#include "common/solana/instructions.h"
#include "platform/chain/fee_bound.h"

namespace weft::cli {
namespace {

using settlement::RelayRow;

struct Relayer {
  const SettlementOptions& options;
  const WalletLine& own;
  RelayJournal& journal;
  chain::Sender& sender;
};
struct Tally {
  std::size_t claims = 0;  // Claims that landed in this run, successful or refused.
  std::uint64_t lamports = 0;
};

// Follows one claim until it is final or can no longer land.
Result<> finish(Relayer& r, const RelayRow& open, Tally& tally) {
  RelayRow row = open;
  const auto landed = r.sender.follow(r.journal.transactions().at(open.signature));
  if (!landed && landed.error().code == ErrorCode::deadline_exceeded) {
    row.state = RelayRow::State::expired;
    return r.journal.ended(row);
  }
  // A transaction that landed and was refused has paid its fee as well.
  if (!landed && landed.error().code != ErrorCode::permission_denied)
    return std::unexpected(landed.error());
  WEFT_ASSIGN(const chain::Lamports said, r.own.line.rpc->fee_of(open.signature));
  WEFT_ASSIGN(row.lamports, chain::possible_fee(r.journal.transactions().at(open.signature), said));
  row.state = RelayRow::State::done;
  WEFT_OK(r.journal.ended(row));
  tally.claims += 1;
  tally.lamports += row.lamports;
  return {};
}
Result<> finish_open(Relayer& r, Tally& tally) {
  for (const RelayRow& open : r.journal.relays().open()) WEFT_OK(finish(r, open, tally));
  return {};
}

struct Wanted {
  PublicKey owner;
  std::uint64_t due = 0;
  Act act;
  chain::Quote quote;
};

// Selects owners that are due at least the minimum and have a token account. If an owner has no
// token account, the relayer would have to pay the account's rent, and the owner could take the
// rent by closing the account.
Result<std::vector<Wanted>> wanted_of(Relayer& r, const solana::SumTree& tree, std::uint64_t slot) {
  WEFT_ASSIGN(const std::uint64_t least, parse_credits(r.options.at_least));
  ClaimedPages claimed(r.own.line);
  std::vector<Wanted> out;
  for (const solana::Earned& row : tree.owners()) {
    if (out.size() >= r.options.most) break;
    if (!r.options.owner.empty() && row.owner.text() != r.options.owner) continue;
    WEFT_ASSIGN(const std::optional<std::uint64_t> before, claimed.of(row.index));
    if (!before || row.amount <= *before || row.amount - *before < least) continue;
    WEFT_ASSIGN(
        const chain::Lamports rent,
        r.own.line.rent_if_missing(r.own.line.tokens_of(row.owner), solana::token_account_bytes));
    if (rent > 0) continue;
    Wanted one{.owner = row.owner, .due = row.amount - *before, .act = {}, .quote = {}};
    WEFT_ASSIGN(const solana::ProgramCall call, claim_call(r.own.line, tree, row.owner, slot));
    WEFT_ASSIGN(one.act, act_of(r.own, call,
                                {.what = weft::format("Claims {} for {}.", credits_text(one.due),
                                                      row.owner.text())}));
    const auto quote = r.sender.quote(one.act.plan);
    if (!quote && quote.error().code == ErrorCode::permission_denied) continue;
    if (!quote) return std::unexpected(quote.error());
    one.quote = *quote;
    out.push_back(std::move(one));
  }
  return out;
}

Result<> print_tally(const Relayer& r, const Tally& tally) {
  if (r.options.json) {
    std::printf(
        "%s\n",
        weft::format(R"({{"claims":{},"fee_lamports":{}}})", tally.claims, tally.lamports).c_str());
  } else {
    std::printf("%s\n", weft::format("{} claims are relayed, for {} in fees.", tally.claims,
                                     sol_text(tally.lamports))
                            .c_str());
  }
  return {};
}

Result<> relay(SettlementOptions options) {
  WEFT_ASSIGN(auto rows, epoch_rows(options.rows));
  WEFT_ASSIGN(const solana::SumTree tree, solana::SumTree::create(std::move(rows)));
  options.level = "finalized";  // A fee is final when no fork can take it back.
  WEFT_ASSIGN(const WalletLine own, wallet_line(options));
  WEFT_ASSIGN(RelayJournal journal, RelayJournal::open(options.data / "chain-relays.txt",
                                                       {.config = own.line.config_address,
                                                        .units_a_sol = options.units_a_sol}));
  PublicKey owner;
  WEFT_ASSIGN(chain::Sender sender,
              sender_for(options, *own.line.rpc, [&](const chain::SignedTransaction& transaction) {
                return journal.sent(owner, transaction);
              }));
  Relayer relayer{options, own, journal, sender};
  // Claims that an earlier run sent are followed first; then come new ones.
  Tally tally;
  if (!options.dry_run) WEFT_OK(finish_open(relayer, tally));
  WEFT_ASSIGN(const std::uint64_t slot, final_slot_of(own.line, tree));
  WEFT_ASSIGN(const std::vector<Wanted> wanted, wanted_of(relayer, tree, slot));
  if (!wanted.empty()) {
    Costs costs{.transactions = wanted.size(), .fees = 0, .rent = 0};
    std::vector<std::string> what;
    for (const Wanted& one : wanted) {
      costs.fees += one.quote.total();
      what.push_back(one.act.what);
    }
    WEFT_ASSIGN(const bool go, agreed(options, what, costs));
    if (!go) return {};
    for (const Wanted& one : wanted) {
      if (journal.relays().is_under_way(one.owner)) continue;
      owner = one.owner;
      const auto launched = sender.launch(one.act.plan, one.quote);
      // A node that did not answer may have the transaction, so it is followed anyway.
      if (!launched && !journal.relays().is_under_way(owner))
        return std::unexpected(launched.error());
    }
    WEFT_OK(finish_open(relayer, tally));
  }
  return print_tally(relayer, tally);
}

}  // namespace

int chain_relay_command(const SettlementOptions& options) {
  const auto done = relay(options);
  return done ? 0 : report("chain relay", done.error());
}

}  // namespace weft::cli
