#include "apps/cli/owner_text.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>

#include "apps/cli/json_line.h"
#include "common/base/format.h"

namespace weft::cli {
namespace {

namespace api = protocol::api;

constexpr std::array<StatementAccount, 6> accounts{{{"owner", "free"},
                                                    {"granted", "granted"},
                                                    {"held", "held"},
                                                    {"held-granted", "held granted"},
                                                    {"stake", "staked"},
                                                    {"settled", "settled"}}};

std::string in_credits(MicroCredits amount) {
  const auto magnitude = amount < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(amount)
                                    : static_cast<std::uint64_t>(amount);
  return weft::format("{}{}.{:06}", amount < 0 ? "-" : "", magnitude / 1'000'000,
                      magnitude % 1'000'000);
}

std::string utc(std::int64_t unix_millis) {
  const std::chrono::sys_time<std::chrono::seconds> time{std::chrono::seconds(unix_millis / 1000)};
  return weft::format("{:%F}T{:%T}Z", time, time);
}

std::string csv_quoted(std::string_view text) {
  std::string out = "\"";
  // A spreadsheet runs texts that begin with these characters as formulas, and job names may come
  // from strangers.
  if (!text.empty() && std::string_view("=+-@\t\r").contains(text.front())) out += '\'';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

Result<> check_steps(const api::LedgerAccount& history) {
  for (std::size_t i = 1; i < history.entries.size(); ++i) {
    const api::LedgerEntry& later = history.entries[i - 1];
    const api::LedgerEntry& earlier = history.entries[i];
    if (earlier.balance + later.amount != later.balance)
      return fail(ErrorCode::data_loss,
                  "The ledger's entries do not add up: after {} the account {} holds {}, {} "
                  "changes it by {}, and {} are left.",
                  earlier.key, history.account, in_credits(earlier.balance), later.key,
                  in_credits(later.amount), in_credits(later.balance));
  }
  return {};
}

}  // namespace

std::span<const StatementAccount> statement_accounts() { return accounts; }

Result<Statement> make_statement(const std::string& owner,
                                 std::span<const api::LedgerAccount> histories) {
  Statement statement{.owner = owner, .lines = {}};
  for (std::size_t i = 0; i < histories.size() && i < accounts.size(); ++i) {
    WEFT_OK(check_steps(histories[i]));
    for (auto entry = histories[i].entries.rbegin(); entry != histories[i].entries.rend(); ++entry)
      statement.lines.push_back({.time = entry->time,
                                 .account = std::string(accounts[i].name),
                                 .amount = entry->amount,
                                 .balance = entry->balance,
                                 .what = entry->what,
                                 .job = entry->job,
                                 .key = entry->key});
  }
  // The sort is stable, because each account's balances depend on the order of its entries.
  std::ranges::stable_sort(statement.lines, {}, &StatementLine::time);
  return statement;
}

std::string statement_csv(const Statement& statement) {
  std::string out = "time,account,amount,balance,what,job,transaction\r\n";
  for (const StatementLine& line : statement.lines)
    out += weft::format("{},{},{},{},{},{},{}\r\n", utc(line.time), line.account,
                        in_credits(line.amount), in_credits(line.balance), csv_quoted(line.what),
                        line.job, csv_quoted(line.key));
  return out;
}

std::string statement_json(const Statement& statement) { return json_line(statement); }

std::string statement_text(const Statement& statement) {
  std::string text = weft::format("Owner {}\n", statement.owner);
  if (statement.lines.empty()) return text + "Nothing has ever moved.\n";
  text += weft::format("\n{:<20} {:<12} {:>20} {:>20}  {}\n", "when (UTC)", "credits", "change",
                       "then", "what");
  for (const StatementLine& line : statement.lines)
    text += weft::format("{:<20} {:<12} {:>20} {:>20}  {}{}\n", utc(line.time), line.account,
                         (line.amount > 0 ? "+" : "") + in_credits(line.amount),
                         in_credits(line.balance), line.what,
                         line.job.empty() ? "" : weft::format(" (job {})", line.job));
  return text;
}

std::string owner_text(const api::Owner& owner) {
  std::string text = weft::format("Owner {}\n", owner.owner);
  const auto line = [&](std::string_view name, MicroCredits amount, std::string_view note) {
    text += weft::format("{:<10} {:>20} credits{}\n", name, in_credits(amount), note);
  };
  line("free", owner.free, "");
  line("granted", owner.granted, "  (spent first; neither staked, transferred nor settled)");
  if (owner.held + owner.held_granted > 0)
    line("held", owner.held + owner.held_granted, "  (pay that is still being checked)");
  if (owner.staked > 0) line("staked", owner.staked, "");
  if (owner.settled > 0) line("settled", owner.settled, "  (in all; paid on the chain)");
  text += "\n";
  for (const api::OwnerDevice& device : owner.devices) {
    text += weft::format("{:<46} {:<9} {}{}\n", device.key,
                         device.revoked != 0 ? "revoked" : device.role, device.name,
                         device.key == owner.device ? " (this device)" : "");
  }
  return text;
}

}  // namespace weft::cli
