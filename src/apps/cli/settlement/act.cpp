#include "apps/cli/settlement/act.h"

#include <cstdio>
#include <unistd.h>

#include "apps/cli/settlement/sent_file.h"
#include "apps/cli/wallet_choice.h"
#include "common/json/quote.h"
#include "common/solana/instructions.h"

namespace weft::cli {
namespace {

// Estimated compute units of a transaction that cannot be simulated yet: more than any instruction
// of the program needs.
constexpr std::uint64_t untried_units = 200'000;

Result<chain::Quote> untried_quote(const SettlementOptions& options, chain::Rpc& rpc,
                                   const Act& act) {
  chain::Quote out{.units = untried_units, .unit_limit = untried_units};
  if (options.micro_lamports) {
    out.micro_lamports = *options.micro_lamports;
  } else {
    WEFT_ASSIGN(out.micro_lamports, rpc.priority_fee({}));
  }
  out.signature_fee = chain::signature_fee(act.plan);
  out.priority_fee = (out.unit_limit * out.micro_lamports + 999'999) / 1'000'000;
  return out;
}

struct Earlier {
  std::string what;
  chain::Landed landed;
};
// Follows a transaction that an interrupted command had signed. Returns nullopt if no transaction
// is recorded, or if the transaction can never land.
Result<std::optional<Earlier>> follow_earlier(const SentFile& sent, const PublicKey& program,
                                              chain::Sender& sender) {
  WEFT_ASSIGN(const std::optional<SentRecord> record, sent.read());
  if (!record) return std::nullopt;
  if (record->program != program)
    return fail(ErrorCode::already_exists,
                "{} records an unfinished transaction of the program {}: first run a command with "
                "the network of that program.",
                sent.name(), record->program.text());
  auto landed = sender.follow(record->transaction);
  if (landed) {
    sent.remove();
    return Earlier{.what = record->what, .landed = *landed};
  }
  if (landed.error().code != ErrorCode::deadline_exceeded &&
      landed.error().code != ErrorCode::permission_denied)
    return pass(std::move(landed), "while following what an earlier command sent");
  sent.remove();
  return std::nullopt;
}

std::string landed_json(const std::string& what, const chain::Landed& landed, std::uint64_t units) {
  return weft::format(R"({{"what":{},"signature":"{}","slot":{},"level":"{}","units":{}}})",
                      json::quote(what), landed.signature.text(), landed.slot,
                      chain::to_string(landed.level), units);
}
std::string landed_text(const chain::Landed& landed) {
  return weft::format("{} in slot {}: {}", chain::to_string(landed.level), landed.slot,
                      landed.signature.text());
}

}  // namespace

Result<chain::Sender> sender_for(const SettlementOptions& options, chain::Rpc& rpc,
                                 std::function<Result<>(const chain::SignedTransaction&)> keep) {
  WEFT_ASSIGN(const chain::Confirmation level, chain::confirmation_from(options.level));
  return chain::Sender(rpc, {.level = level,
                             .micro_lamports = options.micro_lamports,
                             .poll = std::chrono::milliseconds(400),
                             .keep = std::move(keep)});
}

std::string costs_json(const Costs& costs) {
  return weft::format(R"("transactions":{},"fee_lamports":{},"rent_lamports":{})",
                      costs.transactions, costs.fees, costs.rent);
}

Result<bool> agreed(const SettlementOptions& options, const std::vector<std::string>& what,
                    const Costs& costs) {
  for (const std::string& line : what) std::fprintf(stderr, "%s\n", line.c_str());
  std::fprintf(
      stderr, "%s\n",
      weft::format("This costs {}: {} in fees of {} transaction{}, {} in rent.",
                   sol_text(costs.fees + costs.rent), sol_text(costs.fees), costs.transactions,
                   costs.transactions == 1 ? "" : "s", sol_text(costs.rent))
          .c_str());
  if (options.dry_run) {
    if (options.json) std::printf("{%s,\"sent\":false}\n", costs_json(costs).c_str());
    return false;
  }
  if (options.yes) return true;
  if (isatty(STDIN_FILENO) == 0)
    return fail(ErrorCode::invalid_argument,
                "Nothing was signed: standard input is not a terminal at which to ask; --yes "
                "agrees to the costs.");
  std::fputs("Sign and send? [y/N] ", stderr);
  const int first = std::getchar();
  if (first != 'y' && first != 'Y') return fail(ErrorCode::cancelled, "Nothing was signed.");
  return true;
}

Result<> carry_out(const SettlementOptions& options, chain::Rpc& rpc,
                   const std::vector<Act>& wanted, const std::string& extra,
                   const std::string& closing) {
  WEFT_ASSIGN(const SentFile sent, SentFile::of(options.wallet));
  const PublicKey program = wanted.back().plan.instructions.back().program;
  std::string what;
  WEFT_ASSIGN(chain::Sender sender,
              sender_for(options, rpc, [&](const chain::SignedTransaction& transaction) {
                return sent.write({.program = program, .what = what, .transaction = transaction});
              }));
  std::optional<Earlier> earlier;
  if (!options.dry_run) {
    WEFT_ASSIGN(earlier, follow_earlier(sent, program, sender));
  }
  std::vector<Act> acts;
  std::string rows, words;
  for (const Act& act : wanted) {
    if (!earlier || act.what != earlier->what) {
      acts.push_back(act);
      continue;
    }
    std::fprintf(stderr, "%s Sent by a command that was cut short; not sent again.\n",
                 act.what.c_str());
    rows = landed_json(act.what, earlier->landed, 0);
    words = landed_text(earlier->landed) + "\n";
  }
  chain::Lamports least = 0;
  for (const Act& act : acts) least += act.rent + chain::signature_fee(act.plan);
  if (!acts.empty()) WEFT_OK(has_lamports(rpc, acts.front().plan.payer->public_key(), least));
  std::vector<chain::Quote> quotes;
  std::vector<std::string> lines;
  Costs costs{.transactions = acts.size(), .fees = 0, .rent = 0};
  for (const Act& act : acts) {
    WEFT_ASSIGN(quotes.emplace_back(),
                act.after ? untried_quote(options, rpc, act) : sender.quote(act.plan));
    costs.fees += quotes.back().total();
    costs.rent += act.rent;
    lines.push_back(act.what);
  }
  WEFT_ASSIGN(const bool go, acts.empty() ? Result<bool>(true) : agreed(options, lines, costs));
  if (!go) return {};
  for (std::size_t i = 0; i < acts.size(); ++i) {
    if (acts[i].after) {
      WEFT_ASSIGN(const chain::Quote tried, sender.quote(acts[i].plan));
      if (tried.total() > quotes[i].total())
        return fail(ErrorCode::unavailable,
                    "\"{}\" now costs {} in fees, more than was agreed to; run the command again.",
                    acts[i].what, sol_text(tried.total()));
      quotes[i] = tried;
    }
    what = acts[i].what;
    const auto landed = sender.send(acts[i].plan, quotes[i]);
    if (!landed) {
      // The transaction failed finally or can never land, so it need not be followed.
      if (landed.error().code == ErrorCode::permission_denied ||
          landed.error().code == ErrorCode::deadline_exceeded)
        sent.remove();
      return std::unexpected(landed.error());
    }
    rows += (rows.empty() ? "" : ",") + landed_json(acts[i].what, *landed, quotes[i].units);
    words += landed_text(*landed) + "\n";
  }
  if (options.json) {
    std::printf("{%s,\"landed\":[%s]%s%s}\n", costs_json(costs).c_str(), rows.c_str(),
                extra.empty() ? "" : ",", extra.c_str());
  } else {
    std::printf("%s%s%s", words.c_str(), closing.c_str(), closing.empty() ? "" : "\n");
  }
  std::fflush(stdout);
  sent.remove();  // No transaction is left to follow, because all results were printed.
  return {};
}

Result<WalletLine> wallet_line(const SettlementOptions& options) {
  WEFT_ASSIGN(SettlementLine line, settlement_line(options));
  WEFT_ASSIGN(crypto::KeyPair wallet, wallet_there(options.wallet));
  return WalletLine{.line = std::move(line), .wallet = std::move(wallet)};
}

Result<Act> act_of(const WalletLine& own, const solana::ProgramCall& call, OneCall more) {
  WEFT_ASSIGN(const solana::Instruction instruction, call.build(own.line.network.program));
  more.before.push_back(instruction);
  return Act{.what = std::move(more.what),
             .plan = {.instructions = std::move(more.before),
                      .payer = &own.wallet,
                      .signers = std::move(more.signers)},
             .rent = more.rent};
}

Result<> call_once(const SettlementOptions& options, const WalletLine& own,
                   const solana::ProgramCall& call, OneCall more) {
  const std::string extra = more.extra;
  WEFT_ASSIGN(Act act, act_of(own, call, std::move(more)));
  std::vector<Act> acts;
  acts.push_back(std::move(act));
  return carry_out(options, *own.line.rpc, acts, extra, "");
}

Result<> has_tokens(const WalletLine& own, std::uint64_t amount) {
  WEFT_ASSIGN(const std::uint64_t held, tokens_in(*own.line.rpc, own.own_tokens()));
  if (held < amount)
    return fail(ErrorCode::permission_denied, "The wallet {} has {} in tokens, less than {}.",
                own.own().text(), credits_text(held), credits_text(amount));
  return {};
}

Result<> has_lamports(chain::Rpc& rpc, const PublicKey& wallet, chain::Lamports least) {
  WEFT_ASSIGN(const chain::Lamports held, rpc.balance(wallet));
  if (held < least)
    return fail(ErrorCode::permission_denied,
                "The wallet {} holds {}; fees and rent take at least {}.", wallet.text(),
                sol_text(held), sol_text(least));
  return {};
}

Result<> has_account(const WalletLine& own, std::string_view kind, const PublicKey& address,
                     std::string_view what) {
  WEFT_ASSIGN(const auto there, own.line.state(kind, address));
  if (!there)
    return fail(ErrorCode::not_found, "The wallet {} has no {} in this network.", own.own().text(),
                what);
  return {};
}

Result<> make_own_tokens(const WalletLine& own, OneCall& more) {
  more.before.push_back(
      solana::create_associated_account(own.own(), own.own(), own.line.network.mint));
  WEFT_ASSIGN(const chain::Lamports rent,
              own.line.rent_if_missing(own.own_tokens(), solana::token_account_bytes));
  more.rent += rent;
  return {};
}

}  // namespace weft::cli
