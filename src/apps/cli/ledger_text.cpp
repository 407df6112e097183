#include "apps/cli/ledger_text.h"

#include <algorithm>
#include <chrono>
#include <format>
#include <map>
#include <optional>
#include <vector>

namespace weft::cli {
namespace {

namespace api = protocol::api;

// 12.500000, without passing through a double.
std::string credits(MicroCredits amount, bool sign = false) {
  const auto magnitude = amount < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(amount) : static_cast<std::uint64_t>(amount);
  return std::format("{}{}.{:06}", amount < 0 ? "-" : sign ? "+" : "", magnitude / 1'000'000, magnitude % 1'000'000);
}

std::string time_text(std::int64_t unix_millis) {
  const std::chrono::sys_time<std::chrono::seconds> time{std::chrono::seconds(unix_millis / 1000)};
  return std::format("{:%F %T}", time);
}

std::string_view kind_of(std::string_view account) { return account.substr(0, account.find(':')); }

std::string more(std::uint64_t next) { return next == 0 ? "" : "There are more: --limit raises how many are shown, 0 shows all.\n"; }

Result<> check_entry(const api::LedgerEntry& entry) {
  MicroCredits sum = 0;
  for (const api::LedgerMovement& movement : entry.movements) sum += movement.amount;
  if (sum != 0) return fail(ErrorCode::data_loss, "The transaction {} sums to {} micro-credits, not to 0.", entry.key, sum);
  return {};
}

// Two that follow one another on one account.
Result<> check_step(const api::LedgerEntry& earlier, const api::LedgerEntry& later) {
  if (earlier.balance + later.amount == later.balance) return {};
  return fail(ErrorCode::data_loss, "After {} the account holds {}, which {} changes by {} and leaves {}.", earlier.key, credits(earlier.balance),
              later.key, credits(later.amount, true), credits(later.balance));
}

}  // namespace

std::string ledger_text(const api::Ledger& ledger) {
  std::string text;
  for (const api::Balance& balance : ledger.balances) text += std::format("{:<54} {:>24}\n", balance.account, credits(balance.amount));
  return text + std::format("{:<54} {:>24}\n", "sum", credits(ledger.sum));
}

std::string ledger_text(const api::LedgerAccount& account) {
  std::string text = std::format("{} holds {} credits.\n", account.account, credits(account.amount));
  if (account.entries.empty()) return text + "Nothing has ever touched it.\n";
  text += std::format("\n{:<19} {:>20} {:>20}  {}\n", "when (UTC)", "change", "then holds", "what");
  for (const api::LedgerEntry& entry : account.entries) {
    text += std::format("{:<19} {:>20} {:>20}  {}{}\n", time_text(entry.time), credits(entry.amount, true), credits(entry.balance), entry.what,
                        entry.job.empty() ? "" : std::format(" (job {})", entry.job));
  }
  return text + more(account.next);
}

std::string ledger_text(const api::LedgerJob& job) {
  std::string text = std::format("Job {}: its escrow holds {} credits.\n", job.job, credits(job.amount));
  std::map<std::string, MicroCredits> went;  // By kind of account, and from or to it.
  for (const api::LedgerEntry& entry : job.entries) {
    text += std::format("\n{}  {}\n", time_text(entry.time), entry.what);
    for (const api::LedgerMovement& movement : entry.movements) {
      text += std::format("    {:<54} {:>20}  then holds {:>20}\n", movement.account, credits(movement.amount, true), credits(movement.balance));
      const std::string_view kind = kind_of(movement.account);
      if (kind != "escrow") went[std::format("{} {}", movement.amount < 0 ? "from" : "to", kind)] += movement.amount;
    }
  }
  if (job.next != 0) return text + "\n" + more(job.next);
  text += "\nIn all\n";
  MicroCredits held = 0;
  for (const auto& [where, amount] : went) {
    text += std::format("    {:<20} {:>20}\n", where, credits(amount < 0 ? -amount : amount));
    held -= amount;
  }
  return text + std::format("    {:<20} {:>20}\n", "left", credits(held));
}

Result<> check_ledger(const api::Ledger& ledger) {
  MicroCredits sum = 0;
  for (const api::Balance& balance : ledger.balances) {
    sum += balance.amount;
    if (balance.amount < 0 && balance.account != "mint")
      return fail(ErrorCode::data_loss, "The account {} holds {} credits.", balance.account, credits(balance.amount));
  }
  if (sum != 0 || ledger.sum != 0) return fail(ErrorCode::data_loss, "The balances sum to {} micro-credits, not to 0.", sum);
  return {};
}

Result<> check_ledger(const api::LedgerAccount& account) {
  for (std::size_t i = 0; i < account.entries.size(); ++i) {
    WEFT_OK(check_entry(account.entries[i]));
    if (i > 0) WEFT_OK(check_step(account.entries[i], account.entries[i - 1]));
  }
  return {};
}

Result<> check_ledger(const api::LedgerJob& job) {
  std::optional<api::LedgerEntry> latest;  // That touched the escrow.
  for (const api::LedgerEntry& entry : job.entries) {
    WEFT_OK(check_entry(entry));
    if (entry.amount == 0) continue;
    WEFT_OK(check_step(latest.value_or(api::LedgerEntry{}), entry));
    latest = entry;
  }
  return {};
}

}  // namespace weft::cli
