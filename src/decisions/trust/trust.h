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

  // `tasks` of them. The job's id is new.
  void add_job(const JobId& job, Policy policy, std::uint32_t tasks) {
    table_.add_job(job, std::move(policy), tasks);
  }
  // After a restart, between add_job() and the first event: a task that was accepted, or a counted
  // replica of one that was not.
  void restore_accepted(const TaskId& task) { (void)table_.settle(task); }
  void restore_counted(const Replica& replica);
  // After the last of them: what had been decided about the job's open tasks and was not stored
  // (NeedReplicas).
  [[nodiscard]] std::vector<Decision> restored(const JobId& job);
  // Decides this task from here on; settled and unknown tasks are nothing. reconsider() says what
  // follows from what is there.
  void set_ballot(const TaskId& task, const Ballot& ballot);
  void clear_ballot(const TaskId& task);
  [[nodiscard]] std::vector<Decision> reconsider(const TaskId& task);
  // Covered replicas of an open task, in the order of arrival.
  [[nodiscard]] std::vector<Replica> counted(const TaskId& task) const;
  // The results of an open task by what agrees, the largest group first; rejected ones are left
  // out.
  using Group = VoteGroup;
  [[nodiscard]] std::vector<Group> groups(const TaskId& task) const;
  // Covered results of an open task, rejected ones included.
  [[nodiscard]] std::uint32_t votes(const TaskId& task) const;
  // A check found this root wrong, or only what `of` handed in with it: such results are Refused
  // and count no more, and what is missing then is asked for. A result that is lost counts no more
  // either, but nothing was found wrong with it.
  enum class Rejected : std::uint8_t { wrong, lost };
  [[nodiscard]] std::vector<Decision> reject(const TaskId& task, const Hash& root,
                                             std::string_view reason,
                                             const std::optional<PublicKey>& of = {},
                                             Rejected as = Rejected::wrong);
  // Whether the job's own quorum would have decided by now, had no ballot stood in its place.
  [[nodiscard]] bool policy_decides(const TaskId& task) const;
  // Whether two results of the task do not agree.
  [[nodiscard]] bool differ(const TaskId& task) const;
  // The job ended; everything about it is forgotten. Unknown jobs are nothing.
  void remove_job(const JobId& job) { table_.remove_job(job); }

  // Refused where the job is unknown, the task does not exist or is settled, or the worker has
  // delivered this task before. A repetition of an uncovered result replaces it.
  [[nodiscard]] std::vector<Decision> add_result(const Replica& replica);
  // `claims` of one receipt by `worker`. A claim that meets no result yet is kept until the result
  // comes (at most EarlyClaims::waiting_max a worker, the oldest dropped); one whose root differs
  // from the result refuses the result.
  [[nodiscard]] std::vector<Decision> add_receipt(const PublicKey& worker,
                                                  std::span<const Claim> claims);
  void forget_claims(const PublicKey& worker) { claims_.forget(worker); }
  void forget_claim(const PublicKey& worker, const TaskId& task, std::uint32_t attempt) {
    (void)claims_.take(worker, task, attempt);
  }
  // The lease of an uncovered result was lost: forgets it. Counted ones stay.
  void withdraw(const TaskId& task, const PublicKey& worker);
  // No further worker can be asked (scheduler: NoWorkerLeft). Fails the job where the task's
  // replicas differ; nothing where there are merely too few of them. A ballot is content with a
  // lead of `lead_min` then.
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
