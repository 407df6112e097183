#include "apps/cli/settlement/simulated_books.h"

#include <numeric>

#include "apps/cli/settlement/epochs.h"

namespace weft::cli {
namespace {

constexpr std::size_t supply_at = 36;  // Offset of the supply in a mint account.
constexpr std::size_t amount_at = 64;  // Offset of the amount in a token account.
constexpr std::size_t first_owned = 4;

std::uint64_t number_at(const chain::AccountData& account, std::size_t at) {
  std::uint64_t out = 0;
  for (std::size_t i = 8; i-- > 0;) out = out << 8 | account.data[at + i];
  return out;
}

// Keeps the sentence of the first broken condition.
class Verdict {
 public:
  void same(std::string_view what, std::uint64_t is, std::uint64_t should) {
    if (wrong_.empty() && is != should)
      wrong_ = weft::format("{}: {}, not {}", what, credits_text(is), credits_text(should));
  }
  void at_most(std::string_view what, std::uint64_t is, std::uint64_t most) {
    if (wrong_.empty() && is > most)
      wrong_ = weft::format("{}: {}, more than {}", what, credits_text(is), credits_text(most));
  }
  [[nodiscard]] std::string text() const { return wrong_; }

 private:
  std::string wrong_;
};

struct Owned {
  std::uint64_t unspent = 0;  // All deposits minus all withdrawals and charges.
  std::uint64_t staked = 0, unbonding = 0;
};

}  // namespace

SettlementWatch::SettlementWatch(const SettlementLine& line, const Watched& watched)
    : line_(line), clients_(watched.clients.size()) {
  keys_ = {line.config_address, line.network.mint, line.config.key("vault"),
           line.config.key("stake_vault")};
  for (const PublicKey& client : watched.clients) keys_.push_back(line.network.escrow(client));
  for (const PublicKey& staker : watched.stakers) keys_.push_back(line.network.stake(staker));
}

Result<std::string> SettlementWatch::look(const SimulatedBooks& books, const LedgerSums& ledger) {
  ++looks_;
  WEFT_ASSIGN(auto accounts, line_.rpc->accounts(keys_));
  for (std::size_t i = 0; i < first_owned; ++i)
    if (!accounts[i]) return fail(ErrorCode::data_loss, "{} is gone.", keys_[i].text());
  WEFT_ASSIGN(const auto c, solana::ProgramState::read("config", std::move(accounts[0]->data)));
  const std::uint64_t supply = number_at(*accounts[1], supply_at);
  const std::uint64_t vault = number_at(*accounts[2], amount_at);
  const std::uint64_t stake_vault = number_at(*accounts[3], amount_at);
  Owned owned;
  Verdict v;
  for (std::size_t i = first_owned; i < accounts.size(); ++i) {
    if (!accounts[i] || accounts[i]->owner != line_.network.program) continue;
    if (i < first_owned + clients_) {
      WEFT_ASSIGN(const auto e, solana::ProgramState::read("escrow", std::move(accounts[i]->data)));
      owned.unspent += e.number("deposited") - e.number("withdrawn") - e.number("charged");
      const auto counted = books.charged_of.find(e.key("owner"));
      v.same("What a client was charged", e.number("charged"),
             counted == books.charged_of.end() ? 0 : counted->second);
      const auto credited = ledger.credited.find(e.key("owner"));
      if (credited != ledger.credited.end())
        v.at_most("Credits of a client, against what the chain has charged it", credited->second,
                  e.number("charged"));
    } else {
      WEFT_ASSIGN(const auto s, solana::ProgramState::read("stake", std::move(accounts[i]->data)));
      owned.staked += s.number("amount");
      owned.unbonding += s.number("unbonding");
    }
  }
  const auto n = [&c](std::string_view field) { return c.number(field); };

  // Compares the chain's sums with one another.
  v.same("The vault, against deposits - withdrawals - claimed spends - fees", vault,
         n("deposits") - n("withdrawals") - n("claimed_spends") - n("fees"));
  v.same("The vault, against what is unspent and what is charged and not claimed", vault,
         owned.unspent + n("charged") - n("claimed_spends"));
  v.same("The supply, against initial + claimed emission - burned", supply,
         n("initial") + n("claimed_emission") - n("burned"));
  v.at_most("The supply, against the cap", supply, n("cap"));
  v.at_most("What was emitted, against the cap", n("initial") + n("emitted"), n("cap"));
  v.at_most("Claimed spends, against final ones", n("claimed_spends"), n("final_spends"));
  v.at_most("Final spends, against what was charged", n("final_spends"), n("charged"));
  v.at_most("Posted spends, against what was charged", n("spends_posted"), n("charged"));
  v.at_most("Claimed emission, against final emission", n("claimed_emission"), n("final_emission"));
  v.same("The stakes, against their sum", owned.staked, n("staked"));
  std::uint64_t bonds = 0;
  for (std::uint64_t slot = 0; slot < solana::epochs_remembered; ++slot)
    if (n(weft::format("epochs.{}.state", slot)) ==
        static_cast<std::uint64_t>(solana::EpochState::pending))
      bonds += n(weft::format("epochs.{}.bond", slot));
  v.at_most("Stakes and bonds, against the stake vault", owned.staked + owned.unbonding + bonds,
            stake_vault);

  // Compares the chain with the simulation's counts.
  v.same("Deposits, against those that were made", n("deposits"), books.deposits);
  v.same("Withdrawals, against those that were made", n("withdrawals"), books.withdrawals);
  v.same("Charges and fees, against the vouchers", n("charged") + n("fees"), books.charged);
  v.same("Stakes, against those that were made", n("staked"), books.staked);
  v.same("Unbonding stakes, against those that were made", owned.unbonding, books.unbonding);
  v.same("What was burned, against the bonds that were lost", n("burned"), books.bonds_burned);
  v.same("What was paid to owners, against what final rows give them",
         n("claimed_spends") + n("claimed_emission"), books.claimed);
  v.same("What each owner was paid, against the sum of it",
         std::accumulate(books.claimed_of.begin(), books.claimed_of.end(), std::uint64_t{0}),
         books.claimed);

  // Compares the sums of the ledger with those of the chain.
  std::uint64_t credited = 0, rows = 0, emission = 0;
  for (const auto& [client, amount] : ledger.credited) credited += amount;
  if (books.posted) {
    rows = books.posted->root().sum;
    emission = emission_in(books.posted->owners());
  }
  v.same("The sum of the ledger", static_cast<std::uint64_t>(ledger.sum), 0);
  v.same("Issued credits, against those of the journal", static_cast<std::uint64_t>(ledger.issued),
         credited);
  v.at_most("Issued credits, against charges and fees", static_cast<std::uint64_t>(ledger.issued),
            n("charged") + n("fees"));
  if (!books.forged)
    v.at_most("What rows give, against what is settled", rows - emission,
              static_cast<std::uint64_t>(ledger.settled));
  v.same("What is posted, against the rows", n("last_amount"), rows);
  v.same("Posted emission, against the rows", n("emitted"), emission);
  v.same("Posted spends, against the rows", n("spends_posted"), rows - emission);
  return v.text();
}

}  // namespace weft::cli
