// Decides which results are accepted. A task needs a quorum: `replicas` results from different
// workers that agree, each covered by a valid receipt. If results disagree, Trust asks for further
// replicas up to a bound, and the largest group of equal results wins.
//
// Pure: the caller checks signatures and that the bytes have the root that they claim, tells Trust,
// and carries out the rulings that come back. A result and its receipt may come in either order.
// After a task is accepted nothing changes it. A task may get a ballot of its own, which decides
// instead of its job's quorum (referee.h).
//
//   trust.add_job(job, {.replicas = 2}, 64);
//   trust.add_result({task, worker, attempt, root});        -> nothing yet: no receipt
//   trust.add_receipt(worker, {{task, attempt, root}});     -> Counted, and perhaps
//                                                              Accepted, NeedReplicas or JobFailed
//
// The parts: VoteTable (jobs, and the results of open tasks), EarlyClaims, VoteGroups (groups of
// equal results), VoteJudge (decides from the groups), AcceptanceCounts. This class has the events.
//
// Memory: a bit for each task of a job, and the results of each task until it is accepted.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/ids.h"
#include "decisions/trust/acceptance_counts.h"
#include "decisions/trust/early_claims.h"
#include "decisions/trust/vote_groups.h"
#include "decisions/trust/vote_judge.h"
#include "decisions/trust/vote_table.h"
#include "decisions/trust/vote_types.h"

namespace weft::trust {

class Trust {
 public:
  Trust() = default;
  Trust(const Trust&) = delete;

  // Adds a job with `tasks` tasks. The job's id must be new.
  void add_job(const JobId& job, Policy policy, std::uint32_t tasks) {
    table_.add_job(job, std::move(policy), tasks);
  }
  // For a restart, after add_job() and before the first event: restore an accepted task, or a
  // counted replica of a task that was not accepted.
  void restore_accepted(const TaskId& task) { (void)table_.settle(task); }
  void restore_counted(const Replica& replica);
  // Call it after all restore_ functions. Returns the decisions about the job's open tasks that
  // were not stored (NeedReplicas).
  [[nodiscard]] std::vector<Decision> restored(const JobId& job);
  // Sets the ballot that decides this task from now on; ignored if the task is settled or unknown.
  // reconsider() then decides by the results that the task has.
  void set_ballot(const TaskId& task, const Ballot& ballot);
  void clear_ballot(const TaskId& task);
  [[nodiscard]] std::vector<Decision> reconsider(const TaskId& task);
  // The replicas of an open task that are covered by receipts, in the order of arrival.
  [[nodiscard]] std::vector<Replica> counted(const TaskId& task) const;
  // The results of an open task in groups that agree, the largest group first, without rejected
  // results.
  using Group = VoteGroup;
  [[nodiscard]] std::vector<Group> groups(const TaskId& task) const;
  // The number of results of an open task that are covered by receipts, including rejected ones.
  [[nodiscard]] std::uint32_t votes(const TaskId& task) const;
  // Call it when a check found this root wrong, or only the result of the worker `of` with this
  // root. These results are Refused and count no more; replicas that are then missing are asked
  // for. A result that is `lost` counts no more either, but was not found wrong.
  enum class Rejected : std::uint8_t { wrong, lost };
  [[nodiscard]] std::vector<Decision> reject(const TaskId& task, const Hash& root,
                                             std::string_view reason,
                                             const std::optional<PublicKey>& of = {},
                                             Rejected as = Rejected::wrong);
  // True if the job's own quorum would have decided by now, without the task's ballot.
  [[nodiscard]] bool policy_decides(const TaskId& task) const;
  // True if two results of the task do not agree.
  [[nodiscard]] bool differ(const TaskId& task) const;
  // Forgets a job that has ended. Unknown jobs are ignored.
  void remove_job(const JobId& job) { table_.remove_job(job); }

  // Adds a result. It is Refused if the job is unknown, if the task does not exist or is settled,
  // or if the worker already has a covered result of the task. A result of the worker that is not
  // covered is replaced.
  [[nodiscard]] std::vector<Decision> add_result(const Replica& replica);
  // Takes the claims of one receipt by `worker`. A claim without a result is kept until the result
  // comes (at most EarlyClaims::waiting_max a worker, the oldest is dropped). If a claim's root
  // differs from that of the result, the result is Refused.
  [[nodiscard]] std::vector<Decision> add_receipt(const PublicKey& worker,
                                                  std::span<const Claim> claims);
  void forget_claims(const PublicKey& worker) { claims_.forget(worker); }
  void forget_claim(const PublicKey& worker, const TaskId& task, std::uint32_t attempt) {
    (void)claims_.take(worker, task, attempt);
  }
  // Forgets an uncovered result, because its lease was lost. Covered results stay.
  void withdraw(const TaskId& task, const PublicKey& worker);
  // Call it when no further worker can be asked (scheduler: NoWorkerLeft). Fails the job if the
  // task's replicas differ; does nothing if there are only too few of them. If the task has a
  // ballot, a lead of `lead_min` is now enough for it.
  [[nodiscard]] std::vector<Decision> give_up(const TaskId& task, std::uint32_t lead_min = 2);

  [[nodiscard]] bool is_accepted(const TaskId& task) const { return table_.is_accepted(task); }
  [[nodiscard]] std::uint32_t accepted_count(const JobId& job) const {
    return table_.accepted_count(job);
  }
  [[nodiscard]] Reputation reputation(const PublicKey& worker) const { return counts_.of(worker); }
  void restore_reputation(const PublicKey& worker, Reputation reputation) {
    counts_.restore(worker, reputation);
  }

 private:
  void cover(const VoteTable::Open& open, const PublicKey& worker, const Hash& claimed,
             std::vector<Decision>& out);

  VoteTable table_;
  EarlyClaims claims_;
  AcceptanceCounts counts_;
  VoteJudge judge_{table_, counts_};
};

}  // namespace weft::trust
