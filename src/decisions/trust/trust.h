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
  // Restore an accepted task, or a counted replica of an open task, after a restart. Call them
  // after add_job() and before the first event.
  void restore_accepted(const TaskId& task) { (void)table_.settle(task); }
  void restore_counted(const Replica& replica);
  // Call it after all restored replicas of the job. Returns the decisions about its open tasks that
  // were made before the restart and are not stored (NeedReplicas).
  [[nodiscard]] std::vector<Decision> restored(const JobId& job);
  // Sets the ballot that decides this task from now on. Does nothing for a settled or unknown task.
  // reconsider() returns the decisions that follow from the present results.
  void set_ballot(const TaskId& task, const Ballot& ballot);
  void clear_ballot(const TaskId& task);
  [[nodiscard]] std::vector<Decision> reconsider(const TaskId& task);
  // The results of an open task that are covered by receipts, in the order of arrival.
  [[nodiscard]] std::vector<Replica> counted(const TaskId& task) const;
  // The results of an open task in groups that agree, the largest group first. Rejected results are
  // left out.
  using Group = VoteGroup;
  [[nodiscard]] std::vector<Group> groups(const TaskId& task) const;
  // The number of results of an open task that are covered by receipts, with rejected ones.
  [[nodiscard]] std::uint32_t votes(const TaskId& task) const;
  // Rejects the results with this root, or only that of the worker `of`, because a check found them
  // wrong: they are Refused and no longer count, and missing replicas are asked for. `as` says if
  // the result was found wrong or is only lost.
  enum class Rejected : std::uint8_t { wrong, lost };
  [[nodiscard]] std::vector<Decision> reject(const TaskId& task, const Hash& root,
                                             std::string_view reason,
                                             const std::optional<PublicKey>& of = {},
                                             Rejected as = Rejected::wrong);
  // True if the job's own quorum would have decided the task by now without its ballot.
  [[nodiscard]] bool policy_decides(const TaskId& task) const;
  // True if two results of the task differ.
  [[nodiscard]] bool differ(const TaskId& task) const;
  // Forgets a job that has ended. Does nothing for an unknown job.
  void remove_job(const JobId& job) { table_.remove_job(job); }

  // Adds a result. Refuses it if the job or the task does not exist, if the task is settled, or if
  // the worker has delivered this task before. A repeated result without a receipt replaces the
  // earlier one.
  [[nodiscard]] std::vector<Decision> add_result(const Replica& replica);
  // Adds the claims of one receipt of `worker`. A claim without a result is kept until the result
  // comes (at most EarlyClaims::waiting_max for each worker; the oldest is dropped). A claim whose
  // root differs from the result's root refuses the result.
  [[nodiscard]] std::vector<Decision> add_receipt(const PublicKey& worker,
                                                  std::span<const Claim> claims);
  void forget_claims(const PublicKey& worker) { claims_.forget(worker); }
  void forget_claim(const PublicKey& worker, const TaskId& task, std::uint32_t attempt) {
    (void)claims_.take(worker, task, attempt);
  }
  // Forgets a result without a receipt whose lease was lost. Counted results stay.
  void withdraw(const TaskId& task, const PublicKey& worker);
  // Call it if no further worker can be asked (scheduler: NoWorkerLeft). Fails the job if the
  // task's replicas differ; does nothing if there are only too few of them. A ballot then needs
  // only a lead of `lead_min`.
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
