// `weft chain credit`: converts the amounts that vouchers have charged to credits at a coordinator,
// each once (decisions/settlement). Run by the operator, whose wallet issues credits.
#include <cstdio>

#include "apps/cli/api_client.h"
#include "apps/cli/exit_code.h"
#include "apps/cli/settlement/credit_journal.h"
#include "apps/cli/settlement/line.h"
#include "apps/cli/wallet_choice.h"
#include "common/solana/program.h"

namespace weft::cli {
namespace {

using settlement::Crediting;
using settlement::JournalRow;

constexpr std::size_t nonce_bytes = 16;

struct Crediter {
  const SettlementLine& line;
  ApiClient& api;
  const crypto::KeyPair& wallet;
  CreditJournal& journal;
  settlement::Charges charges;
};

// Requests a crediting. A repeated request is identical, so that the coordinator detects it.
Result<> issue(Crediter& c, const Crediting& crediting) {
  const Hash key = settlement::key_of(crediting, c.line.config_address);
  const std::string body = weft::format(R"({{"to":"{}","amount":{},"issue":true}})",
                                        crediting.owner.text(), crediting.amount());
  WEFT_OK(
      c.api.requests().post("/v1/owner/payments", body, c.wallet, key.span().first(nonce_bytes)));
  const JournalRow row{.state = JournalRow::State::done, .crediting = crediting};
  WEFT_OK(c.journal.append(row));
  return c.charges.written(row);
}

struct Credited {
  std::size_t owners = 0;
  std::uint64_t amount = 0;
};
Result<Credited> issue_open(Crediter& c) {
  Credited out;
  for (const Crediting& crediting : c.charges.open()) {
    WEFT_OK(issue(c, crediting));
    out.owners += 1;
    out.amount += crediting.amount();
  }
  return out;
}

Result<> print_credited(const SettlementOptions& options, const Credited& credited) {
  if (options.json) {
    std::printf(
        "%s\n",
        weft::format(R"({{"credited":{},"owners":{}}})", credited.amount, credited.owners).c_str());
  } else {
    std::printf("%s\n", weft::format("Credited {} to {} owners.", credits_text(credited.amount),
                                     credited.owners)
                            .c_str());
  }
  return {};
}

Result<> credit(const SettlementOptions& options) {
  WEFT_ASSIGN(const SettlementLine line, settlement_line(options));
  WEFT_ASSIGN(const crypto::KeyPair wallet, wallet_there(options.data / "coordinator.json"));
  WEFT_ASSIGN(const auto api,
              ApiClient::create({.url = options.coordinator, .tls = options.coordinator_tls}));
  WEFT_ASSIGN(CreditJournal journal, CreditJournal::open(options.data / "chain-credits.txt",
                                                         {.config = line.config_address,
                                                          .coordinator = wallet.public_key()}));
  WEFT_ASSIGN(settlement::Charges charges, settlement::Charges::restore(journal.rows()));
  Crediter crediter{line, *api, wallet, journal, std::move(charges)};
  // Creditings that an earlier run began are finished first; then come new ones.
  WEFT_ASSIGN(Credited done, issue_open(crediter));
  WEFT_ASSIGN(const auto escrows, line.states("escrow", chain::Confirmation::finalized));
  for (const solana::ProgramState& escrow : escrows.states) {
    const auto next = crediter.charges.seen(escrow.key("owner"), escrow.number("charged"));
    if (!next) continue;
    const JournalRow row{.state = JournalRow::State::open, .crediting = *next};
    WEFT_OK(journal.append(row));
    WEFT_OK(crediter.charges.written(row));
  }
  WEFT_ASSIGN(const Credited more, issue_open(crediter));
  done.owners += more.owners;
  done.amount += more.amount;
  return print_credited(options, done);
}

}  // namespace

int chain_credit_command(const SettlementOptions& options) {
  const auto done = credit(options);
  return done ? 0 : report("chain credit", done.error());
}

}  // namespace weft::cli
