// /v1/ledger: the balances of accounts and their history.
#include <algorithm>
#include <map>

#include "apps/coordinator/http/access.h"
#include "apps/coordinator/http/query_number.h"
#include "apps/coordinator/http/settled_work.h"
#include "common/base/format.h"
#include "decisions/jobs/core_views.h"

namespace weft::coordinator {

namespace {

namespace api = protocol::api;

constexpr std::uint32_t count_default = 100;
constexpr std::uint32_t count_max = 1000;

Result<store::Store::HistoryPage> page_of(const net::IncomingRequest& request) {
  WEFT_ASSIGN(const std::uint64_t from, query_number(request, "from", {.most = INT64_MAX}));
  WEFT_ASSIGN(
      const std::uint64_t count,
      query_number(request, "count", {.otherwise = count_default, .least = 1, .most = count_max}));
  return store::Store::HistoryPage{.from = from, .count = static_cast<std::uint32_t>(count)};
}

// Responds with a page of the history of `of` (an account or a job) and the current balances of
// `accounts`. `all` is passed to entries_of().
template <class View, class Of>
void show(const HttpParts& parts, const net::IncomingRequest& request, const net::Respond& respond,
          const Of& of, std::vector<ledger::Account> accounts, View view, bool all) {
  const auto page = page_of(request);
  if (!page) return respond(net::problem(page.error()));
  post_or_refuse(
      parts.readers, respond,
      [&store = parts.store, &loop = parts.loop, respond, of, accounts = std::move(accounts),
       page = *page, view = std::move(view), all] {
        const auto history = store.history(of, page);
        if (!history) return respond(net::problem(history.error()));
        View filled = view;
        filled.entries = entries_of(*history, accounts, all);
        filled.next = history->next;
        post_or_refuse(
            loop, respond,
            [respond, accounts, filled = std::move(filled)](jobs::Core& core, jobs::Moment) {
              core.views().balance(accounts,
                                   [respond, filled](const Result<MicroCredits>& amount) mutable {
                                     filled.amount = *amount;
                                     respond(net::json_reply(200, api::to_json(filled)));
                                   });
            });
      });
}

constexpr std::string_view totals = "/v1/ledger totals";

// Shows an account to its owner, or a job's escrow to the viewers of the job. Accounts without an
// owner are shown to the operator only.
void answer_account(const HttpParts& parts, const net::IncomingRequest& request,
                    const net::Respond& respond, const ledger::Account& account) {
  const auto viewer = viewer_of(parts, request);
  if (!viewer) return respond(parts.signatures.refusal(viewer.error()));
  if (viewer->is_operator) return show_account(parts, request, respond, account, true);
  if (ledger::has_owner(account.kind)) {
    if (owns(parts.book, *viewer, OwnerId{{account.id}}))
      return show_account(parts, request, respond, account, false);
    return respond(hidden(parts, *viewer, "The history of an account"));
  }
  if (account.kind != ledger::Account::Kind::escrow &&
      account.kind != ledger::Account::Kind::escrow_granted)
    return if_operator(parts, request, respond, "accounts of the network itself", [] {});
  JobId job;
  std::copy_n(account.id.begin(), job.bytes.size(), job.bytes.begin());
  with_job(parts, request, job.text(), respond,
           [parts, request, respond, account](const Viewer&, const store::Job&) {
             show_account(parts, request, respond, account, false);
           });
}

void answer_job(const HttpParts& parts, const net::IncomingRequest& request,
                const net::Respond& respond, const JobId& job) {
  const auto viewer = viewer_of(parts, request);
  if (!viewer) return respond(parts.signatures.refusal(viewer.error()));
  const auto tell = [parts, request, respond, job](bool all) {
    show(parts, request, respond, job,
         {ledger::Account::escrow(job), ledger::Account::escrow_granted(job)},
         api::LedgerJob{.job = job.text(), .entries = {}}, all);
  };
  // The operator may also name the escrow of a model's answer, for which the store has no job.
  if (viewer->is_operator) return tell(true);
  with_job(parts, request, job.text(), respond,
           [tell](const Viewer&, const store::Job&) { tell(false); });
}

void answer(const HttpParts& parts, const net::IncomingRequest& request,
            const net::Respond& respond) {
  const auto account = request.query.find("account");
  const auto job = request.query.find("job");
  if (account != request.query.end() && job != request.query.end())
    return respond(net::problem(
        {ErrorCode::invalid_argument,
         "Give either account=A for an account's history or job=ID for a job's, not both."}));
  if (account != request.query.end()) {
    const auto wanted = ledger::Account::parse(account->second);
    if (!wanted) return respond(net::problem(wanted.error()));
    return answer_account(parts, request, respond, *wanted);
  }
  if (job != request.query.end()) {
    const auto wanted = JobId::parse(job->second);
    if (!wanted) return respond(net::problem(wanted.error()));
    return answer_job(parts, request, respond, *wanted);
  }
  const auto viewer = viewer_of(parts, request);
  if (!viewer) return respond(parts.signatures.refusal(viewer.error()));
  show_page(parts.lists, viewer->is_operator ? "/v1/ledger" : std::string(totals), request,
            respond);
}

// The sum of all balances for each kind of account, such as all owners or all escrows.
api::Ledger totals_of(const api::Ledger& ledger) {
  std::map<std::string, MicroCredits> kinds;
  for (const api::Balance& balance : ledger.balances)
    kinds[balance.account.substr(0, balance.account.find(':'))] += balance.amount;
  api::Ledger out{.sum = ledger.sum, .balances = {}};
  for (const auto& [kind, amount] : kinds)
    out.balances.push_back({.account = kind, .amount = amount});
  return out;
}

// Makes the list of all balances, or of their sums by kind.
void make_ledger(const HttpParts& parts, bool all, const SharedLists::Take& take) {
  const bool queued = parts.loop.post([parts, all, take](jobs::Core& core, jobs::Moment) {
    core.views().ledger([parts, all, take](const Result<api::Ledger>& view) {
      make_list(parts.readers, take, [all, view = *view] {
        const api::Ledger ledger = all ? view : totals_of(view);
        PagedList list{.before = weft::format(R"({{"sum":{},"balances":[)", ledger.sum),
                       .rows = {}};
        for (const api::Balance& balance : ledger.balances)
          list.rows.push_back({.key = balance.account, .json = api::to_json(balance)});
        return list;
      });
    });
  });
  if (!queued) take(TooMany<SharedList>::answer());
}

// Reads the audit trail part by part, after other waiting reads, and then makes the list.
void list_settlement(const HttpParts& parts, const std::shared_ptr<SettledWork>& work,
                     std::vector<api::SettledOwner> owners, const SharedLists::Take& take) {
  // All parts have one key in the pool, so that they run one by one.
  constexpr std::uint64_t lane = 0;
  const bool queued =
      parts.readers.post(lane, [parts, work, owners = std::move(owners), take]() mutable {
        if (!work->read_on()) return list_settlement(parts, work, std::move(owners), take);
        make_list(parts.readers, take, [work, owners = std::move(owners)]() mutable {
          work->fill(owners);
          PagedList list{.before = R"({"owners":[)", .rows = {}};
          for (const api::SettledOwner& owner : owners)
            list.rows.push_back({.key = owner.owner, .json = api::to_json(owner)});
          return list;
        });
      });
  if (!queued) take(TooMany<SharedList>::answer());
}

// Makes the public list of settled credits, from which every reader can build an epoch's rows.
void make_settlement(const HttpParts& parts, const std::shared_ptr<SettledWork>& work,
                     const SharedLists::Take& take) {
  const bool queued = parts.loop.post([parts, work, take](jobs::Core& core, jobs::Moment) {
    core.views().settlement([parts, work, take](const Result<api::Settlement>& view) {
      list_settlement(parts, work, view->owners, take);
    });
  });
  if (!queued) take(TooMany<SharedList>::answer());
}

}  // namespace

std::vector<protocol::api::LedgerEntry> entries_of(const store::History& history,
                                                   std::span<const ledger::Account> accounts,
                                                   bool all) {
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
      const auto ours = holds.find(movement.account);
      entry.movements.push_back({.account = movement.account.text(),
                                 .amount = movement.amount,
                                 .balance = all || ours != holds.end() ? movement.balance : 0});
      if (ours == holds.end()) continue;
      entry.amount += movement.amount;
      ours->second = movement.balance;
    }
    for (const auto& [account, amount] : holds) entry.balance += amount;
  }
  return entries;
}

void show_account(const HttpParts& parts, const net::IncomingRequest& request,
                  const net::Respond& respond, const ledger::Account& account, bool all) {
  show(parts, request, respond, account, {account},
       api::LedgerAccount{.account = account.text(), .entries = {}}, all);
}

void add_ledger_routes(const HttpParts& parts) {
  using Take = SharedLists::Take;
  parts.lists.add("/v1/ledger", [parts](const Take& take) { make_ledger(parts, true, take); });
  parts.lists.add(std::string(totals),
                  [parts](const Take& take) { make_ledger(parts, false, take); });
  parts.lists.add("/v1/settlement", [parts, work = std::make_shared<SettledWork>(
                                                parts.store, parts.book, SettledWork::Options{})](
                                        const Take& take) { make_settlement(parts, work, take); });
  parts.server.route(
      {.method = "GET",
       .pattern = "/v1/settlement",
       .handle =
           [parts](const net::IncomingRequest& request, const net::Respond& respond) {
             show_page(parts.lists, "/v1/settlement", request, respond);
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
