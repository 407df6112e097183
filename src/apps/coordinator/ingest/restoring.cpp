#include "apps/coordinator/ingest/restoring.h"

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "apps/coordinator/ingest/compare_results.h"
#include "decisions/jobs/grant_bounds.h"

namespace weft::coordinator {
namespace {

// The escrows that were opened for answers of models: those that belong to no running job.
Result<std::vector<jobs::Restored::Answer>> unfinished_answers(const store::Loaded& rows,
                                                               store::Store& store) {
  using Kind = ledger::Account::Kind;
  std::set<JobId> of_jobs;
  for (const auto& job : rows.jobs) of_jobs.insert(job.id);
  std::set<JobId> escrows;
  for (const auto& entry : rows.balances) {
    if ((entry.account.kind != Kind::escrow && entry.account.kind != Kind::escrow_granted) ||
        entry.amount <= 0)
      continue;
    JobId id;
    std::ranges::copy_n(entry.account.id.begin(), static_cast<std::ptrdiff_t>(id.bytes.size()),
                        id.bytes.begin());
    if (!of_jobs.contains(id)) escrows.insert(id);
  }
  std::vector<jobs::Restored::Answer> answers;
  for (const JobId& id : escrows) {
    // The client is the payer of the transaction that opened the escrow.
    std::optional<OwnerId> client;
    for (const auto& account : {ledger::Account::escrow(id), ledger::Account::escrow_granted(id)}) {
      WEFT_ASSIGN(const auto history, store.history(account, {.from = 0, .count = 16}));
      for (const auto& posted : history.transactions) {
        if (posted.key != "answer-open:" + id.text()) continue;
        const auto payer = std::ranges::find_if(posted.movements, [](const auto& movement) {
          return movement.account.kind == Kind::owner || movement.account.kind == Kind::granted;
        });
        if (payer != posted.movements.end()) client = OwnerId{{payer->account.id}};
      }
    }
    if (client) answers.push_back({.id = id, .client = *client});
  }
  return answers;
}

// Compares the replicas of one task that have different roots, in pairs.
void compare_replicas(std::span<const store::Replica> replicas, const manifest::Manifest& manifest,
                      const store::Blobs& blobs, std::vector<jobs::Restored::Agreement>& out) {
  std::vector<const store::Replica*> different;
  for (const auto& each : replicas) {
    if (!std::ranges::contains(different, each.root, &store::Replica::root))
      different.push_back(&each);
  }
  for (std::size_t i = 0; i < different.size(); ++i) {
    for (std::size_t j = i + 1; j < different.size(); ++j) {
      const bool agrees =
          !difference(blobs, manifest, different[i]->outputs, different[j]->outputs);
      out.push_back({.task = different[i]->task,
                     .a = different[i]->root,
                     .b = different[j]->root,
                     .agrees = agrees});
    }
  }
}

// Compares the replicas of all open tasks. Rows of replicas are ordered by job, then by task.
Result<std::vector<jobs::Restored::Agreement>> agreements(const store::Loaded& rows,
                                                          const store::Blobs& blobs) {
  std::vector<jobs::Restored::Agreement> out;
  std::optional<manifest::Manifest> manifest;
  auto job = rows.jobs.begin();
  const std::span replicas(rows.replicas);
  for (std::size_t begin = 0, end = 0; begin < replicas.size(); begin = end) {
    const TaskId& task = replicas[begin].task;
    while (end < replicas.size() && replicas[end].task == task) ++end;
    const auto of_task = replicas.subspan(begin, end - begin);
    const bool differ = std::ranges::any_of(
        of_task, [&](const auto& each) { return each.root != of_task.front().root; });
    if (!differ) continue;
    if (job == rows.jobs.end() || job->id != task.job) manifest.reset();
    while (job != rows.jobs.end() && job->id != task.job) ++job;
    if (job == rows.jobs.end()) break;  // The core reports a replica without a job.
    if (!manifest) {
      auto parsed = manifest::parse(job->manifest);
      if (!parsed) break;  // The core reports a manifest that cannot be read.
      manifest = std::move(*parsed);
    }
    if (!manifest->verify.compare.exact) compare_replicas(of_task, *manifest, blobs, out);
  }
  return out;
}

// The number of grants since a time. It includes grants to the operator's own clients, because the
// ledger does not distinguish them.
Result<std::size_t> grants_since(UnixMillis since, store::Store& store) {
  std::size_t grants = 0;
  std::uint64_t from = 0;
  do {
    WEFT_ASSIGN(const auto page,
                store.history(ledger::Account::mint(), {.from = from, .count = 100}));
    for (const store::Posted& posted : page.transactions) {
      if (posted.time < since) return grants;
      if (posted.key.starts_with("grant:")) ++grants;
    }
    from = page.next;
  } while (from != 0);
  return grants;
}

}  // namespace

Result<jobs::Restored> look_up(store::Loaded rows, store::Store& store, const store::Blobs& blobs,
                               UnixMillis now) {
  jobs::Restored restored;
  WEFT_ASSIGN(restored.grants_today, grants_since(jobs::GrantBounds::day_of(now), store));
  WEFT_ASSIGN(restored.answers, unfinished_answers(rows, store));
  WEFT_ASSIGN(restored.agreements, agreements(rows, blobs));
  restored.rows = std::move(rows);
  return restored;
}

}  // namespace weft::coordinator
