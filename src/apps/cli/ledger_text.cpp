#include "apps/cli/ledger_text.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <vector>

#include "common/base/format.h"

namespace weft::cli {
namespace {

namespace api = protocol::api;

// Formats an amount exactly, without a double: 12.500000.
std::string credits(MicroCredits amount, bool sign = false) {
  const auto magnitude = amount < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(amount)
                                    : static_cast<std::uint64_t>(amount);
  return weft::format("{}{}.{:06}",
                      amount < 0 ? "-"
                      : sign     ? "+"
                                 : "",
                      magnitude / 1'000'000, magnitude % 1'000'000);
}

std::string time_text(std::int64_t unix_millis) {
  const std::chrono::sys_time<std::chrono::seconds> time{std::chrono::seconds(unix_millis / 1000)};
  return weft::format("{:%F %T}", time);
}

std::string_view kind_of(std::string_view account) { return account.substr(0, account.find(':')); }

bool is_escrow(std::string_view kind) { return kind == "escrow" || kind == "escrow-granted"; }

std::string_view id_of(std::string_view account) {
  const std::size_t colon = account.find(':');
  return colon == std::string_view::npos ? std::string_view() : account.substr(colon + 1);
}

// The client whose credits the escrow was opened with; empty if the opening is on another page.
std::string client_of(const api::LedgerJob& job) {
  for (const api::LedgerEntry& entry : job.entries) {
    if (!entry.key.starts_with("open:")) continue;
    for (const api::LedgerMovement& movement : entry.movements)
      if (movement.amount < 0) return std::string(id_of(movement.account));
  }
  return {};
}

// The role of an account in a job: client, worker, platform and so on.
std::string party(std::string_view account, std::string_view client) {
  const std::string_view kind = kind_of(account);
  const auto named = [&](std::string_view after) {
    return std::string(id_of(account) == client ? "client" : "worker") + std::string(after);
  };
  if (kind == "owner" || kind == "client" || kind == "worker") return named("");
  if (kind == "granted") return named(", granted");
  if (kind == "held") return named(", held");
  if (kind == "held-granted") return named(", held, granted");
  return std::string(kind);
}

std::string more(std::uint64_t next) {
  return next == 0 ? "" : "There are more: --limit raises how many are shown, 0 shows all.\n";
}

Result<> check_entry(const api::LedgerEntry& entry) {
  MicroCredits sum = 0;
  for (const api::LedgerMovement& movement : entry.movements) sum += movement.amount;
  if (sum != 0)
    return fail(ErrorCode::data_loss, "The transaction {} sums to {} micro-credits, not to 0.",
                entry.key, sum);
  return {};
}

// Checks two successive entries of one account.
Result<> check_step(const api::LedgerEntry& earlier, const api::LedgerEntry& later) {
  if (earlier.balance + later.amount == later.balance) return {};
  return fail(ErrorCode::data_loss,
              "The ledger's entries do not add up: after {} the account holds {}, {} changes it by "
              "{}, and {} are left.",
              earlier.key, credits(earlier.balance), later.key, credits(later.amount, true),
              credits(later.balance));
}

}  // namespace

std::string ledger_text(const api::Ledger& ledger) {
  std::string text;
  for (const api::Balance& balance : ledger.balances)
    text += weft::format("{:<54} {:>24}\n", balance.account, credits(balance.amount));
  return text + weft::format("{:<54} {:>24}\n", "sum", credits(ledger.sum));
}

std::string ledger_text(const api::LedgerAccount& account) {
  std::string text =
      weft::format("{} holds {} credits.\n", account.account, credits(account.amount));
  if (account.entries.empty()) return text + "Nothing has ever touched it.\n";
  text +=
      weft::format("\n{:<19} {:>20} {:>20}  {}\n", "when (UTC)", "change", "then holds", "what");
  for (const api::LedgerEntry& entry : account.entries) {
    text += weft::format("{:<19} {:>20} {:>20}  {}{}\n", time_text(entry.time),
                         credits(entry.amount, true), credits(entry.balance), entry.what,
                         entry.job.empty() ? "" : weft::format(" (job {})", entry.job));
  }
  return text + more(account.next);
}

std::string ledger_text(const api::LedgerJob& job) {
  std::string text =
      weft::format("Job {}: its escrow holds {} credits.\n", job.job, credits(job.amount));
  const std::string client = client_of(job);
  std::map<std::string, MicroCredits> went;  // Keyed by party and direction ("from" or "to").
  for (const api::LedgerEntry& entry : job.entries) {
    text += weft::format("\n{}  {}\n", time_text(entry.time), entry.what);
    for (const api::LedgerMovement& movement : entry.movements) {
      text += weft::format("    {:<54} {:>20}  then holds {:>20}\n", movement.account,
                           credits(movement.amount, true), credits(movement.balance));
      const std::string_view kind = kind_of(movement.account);
      if (!is_escrow(kind))
        went[weft::format("{} {}", movement.amount < 0 ? "from" : "to",
                          party(movement.account, client))] += movement.amount;
    }
  }
  if (job.next != 0) return text + "\n" + more(job.next);
  text += "\nIn all\n";
  MicroCredits held = 0;
  for (const auto& [where, amount] : went) {
    text += weft::format("    {:<20} {:>20}\n", where, credits(amount < 0 ? -amount : amount));
    held -= amount;
  }
  return text + weft::format("    {:<20} {:>20}\n", "left", credits(held));
}

Result<> check_ledger(const api::Ledger& ledger) {
  MicroCredits sum = 0;
  for (const api::Balance& balance : ledger.balances) {
    sum += balance.amount;
    if (balance.amount < 0 && balance.account != "mint")
      return fail(ErrorCode::data_loss, "The account {} holds {} credits.", balance.account,
                  credits(balance.amount));
  }
  // Pages are read at different times, so only a list of one page must sum to 0.
  const bool is_one_page = ledger.balances.size() <= api::page_rows_max;
  if (ledger.sum != 0 || (is_one_page && sum != 0))
    return fail(ErrorCode::data_loss, "The balances sum to {} micro-credits, not to 0.",
                ledger.sum != 0 ? ledger.sum : sum);
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
  // The latest entry of each escrow account. Other accounts are not checked, because the job shows
  // only some of their transactions.
  std::map<std::string, api::LedgerEntry> latest;
  for (const api::LedgerEntry& entry : job.entries) {
    WEFT_OK(check_entry(entry));
    for (const api::LedgerMovement& movement : entry.movements) {
      if (!is_escrow(kind_of(movement.account))) continue;
      api::LedgerEntry seen = entry;
      seen.amount = movement.amount;
      seen.balance = movement.balance;
      api::LedgerEntry& before = latest[movement.account];
      WEFT_OK(check_step(before, seen));
      before = std::move(seen);
    }
  }
  return {};
}

}  // namespace weft::cli
