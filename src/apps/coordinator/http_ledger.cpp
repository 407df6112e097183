// /v1/ledger: who holds what, and how it came to that.
#include <charconv>

#include "apps/coordinator/http.h"

namespace weft::coordinator {

namespace {

namespace api = protocol::api;

constexpr std::uint32_t count_default = 100;
constexpr std::uint32_t count_max = 1000;

Result<std::uint64_t> number(const net::IncomingRequest& request, const std::string& name, std::uint64_t otherwise, std::uint64_t most) {
  const auto given = request.query.find(name);
  if (given == request.query.end()) return otherwise;
  const std::string& text = given->second;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value > most)
    return fail(ErrorCode::invalid_argument, "{}={} is no number from 0 to {}.", name, text, most);
  return value;
}

Result<store::Store::HistoryPage> page_of(const net::IncomingRequest& request) {
  WEFT_ASSIGN(const std::uint64_t from, number(request, "from", 0, INT64_MAX));
  WEFT_ASSIGN(const std::uint64_t count, number(request, "count", count_default, count_max));
  if (count == 0) return fail(ErrorCode::invalid_argument, "count=0 asks for nothing.");
  return store::Store::HistoryPage{.from = from, .count = static_cast<std::uint32_t>(count)};
}

// As seen from one of its accounts.
std::vector<api::LedgerEntry> entries_of(const store::History& history, const ledger::Account& account) {
  std::vector<api::LedgerEntry> entries;
  for (const store::Posted& posted : history.transactions) {
    api::LedgerEntry& entry = entries.emplace_back(
        api::LedgerEntry{.key = posted.key, .job = posted.job ? posted.job->text() : "", .what = posted.what, .time = posted.time, .movements = {}});
    for (const store::Movement& movement : posted.movements) {
      entry.movements.push_back({.account = movement.account.text(), .amount = movement.amount, .balance = movement.balance});
      if (movement.account != account) continue;
      entry.amount = movement.amount;
      entry.balance = movement.balance;
    }
  }
  return entries;
}

// Reads a page of the history of `of` (an account or a job), and shows it with what `account` holds now.
template <class View, class Of>
void show(const HttpParts& parts, const net::IncomingRequest& request, const net::Respond& respond, const Of& of, const ledger::Account& account,
          View view) {
  const auto page = page_of(request);
  if (!page) return respond(net::problem(page.error()));
  post_or_refuse(parts.readers, respond, [&store = parts.store, &loop = parts.loop, respond, of, account, page = *page, view = std::move(view)] {
    const auto history = store.history(of, page);
    if (!history) return respond(net::problem(history.error()));
    View filled = view;
    filled.entries = entries_of(*history, account);
    filled.next = history->next;
    post_or_refuse(loop, respond, [respond, account, filled = std::move(filled)](Core& core, Moment) {
      core.balance(account, [respond, filled](const Result<MicroCredits>& amount) mutable {
        filled.amount = *amount;
        respond(net::json_reply(200, api::to_json(filled)));
      });
    });
  });
}

void answer(const HttpParts& parts, const net::IncomingRequest& request, const net::Respond& respond) {
  const auto account = request.query.find("account");
  const auto job = request.query.find("job");
  if (account != request.query.end() && job != request.query.end())
    return respond(net::problem({ErrorCode::invalid_argument, "Either an account's history or a job's: account=A or job=ID."}));
  if (account != request.query.end()) {
    const auto wanted = ledger::Account::parse(account->second);
    if (!wanted) return respond(net::problem(wanted.error()));
    return show(parts, request, respond, *wanted, *wanted, api::LedgerAccount{.account = wanted->text(), .entries = {}});
  }
  if (job != request.query.end()) {
    const auto wanted = JobId::parse(job->second);
    if (!wanted) return respond(net::problem(wanted.error()));
    return show(parts, request, respond, *wanted, ledger::Account::escrow(*wanted), api::LedgerJob{.job = wanted->text(), .entries = {}});
  }
  post_or_refuse(parts.loop, respond, [respond](Core& core, Moment) {
    core.ledger([respond](const Result<api::Ledger>& view) { respond(net::json_reply(200, api::to_json(*view))); });
  });
}

}  // namespace

void add_ledger_routes(const HttpParts& parts) {
  parts.server.route({.method = "GET", .pattern = "/v1/ledger", .handle = [parts](const net::IncomingRequest& request, const net::Respond& respond) {
                        answer(parts, request, respond);
                      }});
}

}  // namespace weft::coordinator
