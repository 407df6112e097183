// /v1/ledger: who holds what, and how it came to that.
#include <charconv>
#include <map>

#include "apps/coordinator/http/http.h"

namespace weft::coordinator {

namespace {

namespace api = protocol::api;

constexpr std::uint32_t count_default = 100;
constexpr std::uint32_t count_max = 1000;

Result<std::uint64_t> number(const net::IncomingRequest& request, const std::string& name,
                             std::uint64_t otherwise, std::uint64_t most) {
  const auto given = request.query.find(name);
  if (given == request.query.end()) return otherwise;
  const std::string& text = given->second;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value > most)
    return fail(ErrorCode::invalid_argument, "{}={} is not a number from 0 to {}.", name, text,
                most);
  return value;
}

Result<store::Store::HistoryPage> page_of(const net::IncomingRequest& request) {
  WEFT_ASSIGN(const std::uint64_t from, number(request, "from", 0, INT64_MAX));
  WEFT_ASSIGN(const std::uint64_t count, number(request, "count", count_default, count_max));
  if (count == 0) return fail(ErrorCode::invalid_argument, "count=0 asks for nothing.");
  return store::Store::HistoryPage{.from = from, .count = static_cast<std::uint32_t>(count)};
}

// As seen from some accounts, which are taken together: what each held before the page is what its
// first movement there says.
std::vector<api::LedgerEntry> entries_of(const store::History& history,
                                         std::span<const ledger::Account> accounts) {
  std::map<ledger::Account, MicroCredits> holds;
  for (const ledger::Account& account : accounts) {
    const auto before = [&]() -> MicroCredits {
      for (const store::Posted& posted : history.transactions) {
        for (const store::Movement& movement : posted.movements)
          if (movement.account == account) return movement.balance - movement.amount;
      }
      return 0;
    };
    holds[account] = before();
  }
  std::vector<api::LedgerEntry> entries;
  for (const store::Posted& posted : history.transactions) {
    api::LedgerEntry& entry =
        entries.emplace_back(api::LedgerEntry{.key = posted.key,
                                              .job = posted.job ? posted.job->text() : "",
                                              .what = posted.what,
                                              .time = posted.time,
                                              .movements = {}});
    for (const store::Movement& movement : posted.movements) {
      entry.movements.push_back({.account = movement.account.text(),
                                 .amount = movement.amount,
                                 .balance = movement.balance});
      const auto ours = holds.find(movement.account);
      if (ours == holds.end()) continue;
      entry.amount += movement.amount;
      ours->second = movement.balance;
    }
    for (const auto& [account, amount] : holds) entry.balance += amount;
  }
  return entries;
}

// Reads a page of the history of `of` (an account or a job), and shows it with what `accounts` hold
// now.
template <class View, class Of>
void show(const HttpParts& parts, const net::IncomingRequest& request, const net::Respond& respond,
          const Of& of, std::vector<ledger::Account> accounts, View view) {
  const auto page = page_of(request);
  if (!page) return respond(net::problem(page.error()));
  post_or_refuse(
      parts.readers, respond,
      [&store = parts.store, &loop = parts.loop, respond, of, accounts = std::move(accounts),
       page = *page, view = std::move(view)] {
        const auto history = store.history(of, page);
        if (!history) return respond(net::problem(history.error()));
        View filled = view;
        filled.entries = entries_of(*history, accounts);
        filled.next = history->next;
        post_or_refuse(
            loop, respond,
            [respond, accounts, filled = std::move(filled)](jobs::Core& core, jobs::Moment) {
              core.balance(accounts, [respond, filled](const Result<MicroCredits>& amount) mutable {
                filled.amount = *amount;
                respond(net::json_reply(200, api::to_json(filled)));
              });
            });
      });
}

void answer(const HttpParts& parts, const net::IncomingRequest& request,
            const net::Respond& respond) {
  const auto account = request.query.find("account");
  const auto job = request.query.find("job");
  if (account != request.query.end() && job != request.query.end())
    return respond(net::problem({ErrorCode::invalid_argument,
                                 "Either an account's history or a job's: account=A or job=ID."}));
  if (account != request.query.end()) {
    const auto wanted = ledger::Account::parse(account->second);
    if (!wanted) return respond(net::problem(wanted.error()));
    return show_account(parts, request, respond, *wanted);
  }
  if (job != request.query.end()) {
    const auto wanted = JobId::parse(job->second);
    if (!wanted) return respond(net::problem(wanted.error()));
    return show(parts, request, respond, *wanted,
                {ledger::Account::escrow(*wanted), ledger::Account::escrow_granted(*wanted)},
                api::LedgerJob{.job = wanted->text(), .entries = {}});
  }
  parts.shared.get("/v1/ledger", respond);
}

// Every balance.
void make_ledger(const HttpParts& parts, const net::Respond& respond) {
  post_or_refuse(parts.loop, respond,
                 [&readers = parts.readers, respond](jobs::Core& core, jobs::Moment) {
                   core.ledger([&readers, respond](const Result<api::Ledger>& view) {
                     post_or_refuse(readers, respond, [respond, view = *view] {
                       respond(net::json_reply(200, api::to_json(view)));
                     });
                   });
                 });
}

// What is settled is public: every reader can build an epoch's rows from it.
void make_settlement(const HttpParts& parts, const net::Respond& respond) {
  post_or_refuse(parts.loop, respond,
                 [&readers = parts.readers, respond](jobs::Core& core, jobs::Moment) {
                   core.settlement([&readers, respond](const Result<api::Settlement>& view) {
                     post_or_refuse(readers, respond, [respond, view = *view] {
                       respond(net::json_reply(200, api::to_json(view)));
                     });
                   });
                 });
}

}  // namespace

void show_account(const HttpParts& parts, const net::IncomingRequest& request,
                  const net::Respond& respond, const ledger::Account& account) {
  show(parts, request, respond, account, {account},
       api::LedgerAccount{.account = account.text(), .entries = {}});
}

void add_ledger_routes(const HttpParts& parts) {
  parts.shared.add("/v1/ledger",
                   [parts](const net::Respond& respond) { make_ledger(parts, respond); });
  parts.shared.add("/v1/settlement",
                   [parts](const net::Respond& respond) { make_settlement(parts, respond); });
  parts.server.route({.method = "GET",
                      .pattern = "/v1/settlement",
                      .handle =
                          [parts](const net::IncomingRequest&, const net::Respond& respond) {
                            parts.shared.get("/v1/settlement", respond);
                          },
                      .cost = 0.5});
  parts.server.route(
      {.method = "GET",
       .pattern = "/v1/ledger",
       .handle = [parts](const net::IncomingRequest& request,
                         const net::Respond& respond) { answer(parts, request, respond); },
       .cost = 0.5});
}

}  // namespace weft::coordinator
