// What is accepted. A task needs a quorum: `replicas` results from different workers that agree,
// each covered by a valid receipt. Where they disagree, further replicas are asked for up to a
// bound, and the largest group that agrees wins.
//
// Pure: the wiring checks signatures and that the bytes have the root they claim, tells Trust, and
// does what comes back. A result and its receipt may come in either order. Once a task is accepted
// nothing changes it. A task may be given a ballot of its own, which decides it instead of its
// job's quorum (referee.h does that).
//
//   trust.add_job(job, {.replicas = 2}, 64);
//   trust.add_result({task, worker, attempt, root});        -> nothing yet: no receipt
//   trust.add_receipt(worker, {{task, attempt, root}});     -> Counted, and perhaps Accepted,
//   NeedReplicas or JobFailed
//
// Memory: a bit for each task of a job, and what there is of its results until it is accepted.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "common/base/ids.h"
#include "common/base/result.h"

namespace weft::trust {

// Whether two different roots of one task agree within the job's tolerance. Not asked for equal
// roots.
using Agree = std::function<bool(const TaskId& task, const Hash& a, const Hash& b)>;

struct Policy {
  std::uint32_t replicas = 1;  // Size of the quorum.
  std::uint32_t replicas_max =
      0;  // How many in all where they disagree; 0: 2 * replicas - 1, so that a majority decides.
  Agree agree;  // Empty: exact roots.
  // Whether the agreement of these workers decides. Empty: it always does. Where it does not, what
  // would be accepted is Provisional instead, until a ballot names the winner.
  std::function<bool(std::span<const PublicKey> workers)> decides = {};
};

struct Replica {
  TaskId task;
  PublicKey worker;
  std::uint32_t attempt = 0;
  Hash root;
};

// How one task is decided: the largest group that agrees has at least `quorum` members and is
// `lead` ahead of every other.
struct Ballot {
  std::uint32_t quorum = 1;
  std::uint32_t lead = 1;
  bool held =
      false;  // What wins is Provisional, not Accepted, until a ballot that is not held is set.
  std::optional<Hash> winner = {};  // Checked elsewhere: what agrees with this root is accepted.
};

// What a receipt whose signature is valid says of one task.
struct Claim {
  TaskId task;
  std::uint32_t attempt = 0;
  Hash root;
};

// --- Decisions
// ---------------------------------------------------------------------------------------------------------

// The replica is there and covered: the worker has done its part (scheduler: counted()).
struct Counted {
  TaskId task;
  PublicKey worker;
  std::uint32_t attempt = 0;
};
// The task is decided. `root` is the accepted bytes' (the replica within tolerance of all others of
// the quorum; among several the smallest root) and `worker` delivered them. `agreeing` are paid:
// Policy::replicas of them, or as many as a ballot took, if they are fewer.
struct Accepted {
  TaskId task;
  Hash root;
  PublicKey worker;
  std::vector<PublicKey> agreeing;  // In the order of their keys.
  std::vector<PublicKey> jurors =
      {};  // Other workers that agree, if a ballot asked for more. In the order of their keys.
};
// A held ballot is decided so far. Said once for each set_ballot().
struct Provisional {
  TaskId task;
  Hash root;
  std::vector<PublicKey> agreeing;  // In the order of arrival.
};
// This replica is not accepted and not paid; its lease, where there is one still, has failed
// (scheduler: failed() with data_loss, whose not_found may be ignored).
struct Refused {
  TaskId task;
  PublicKey worker;
  std::uint32_t attempt = 0;
  std::string reason;
  bool wrong = false;  // It differs from the accepted one.
  std::uint32_t margin =
      0;  // How many more agree with the accepted one than with this, where it is wrong.
  Hash root = {};
};
// The task wants `replicas` in all (scheduler: want_replicas()).
struct NeedReplicas {
  TaskId task;
  std::uint32_t replicas = 0;
};
struct JobFailed {
  JobId job;
  std::string reason;  // "replicas differ: ...". The job is forgotten here already.
  // Its right answer depends on the device: no worker's fault, and what ran is paid.
  bool irreproducible = false;
};
using Decision = std::variant<Counted, Accepted, Refused, NeedReplicas, JobFailed, Provisional>;

struct Reputation {
  std::uint64_t accepted = 0;
  std::uint64_t refused = 0;  // In the minority of a quorum.
  friend bool operator==(const Reputation&, const Reputation&) = default;
};

class Trust {
 public:
  // `tasks` of them. The job's id is new.
  void add_job(const JobId& job, Policy policy, std::uint32_t tasks);
  // After a restart, between add_job() and the first event: a task that was accepted, or a counted
  // replica of one that was not.
  void restore_accepted(const TaskId& task);
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
  struct Group {
    Hash root;
    std::vector<PublicKey> workers;  // In the order of arrival.
  };
  [[nodiscard]] std::vector<Group> groups(const TaskId& task) const;
  // Covered results of an open task, rejected ones included.
  [[nodiscard]] std::uint32_t votes(const TaskId& task) const;
  // A check found this root wrong: results that agree with it are Refused and count no more, and
  // what is missing then is asked for.
  [[nodiscard]] std::vector<Decision> reject(const TaskId& task, const Hash& root,
                                             std::string_view reason);
  // Whether the job's own quorum would have decided by now, had no ballot stood in its place.
  [[nodiscard]] bool policy_decides(const TaskId& task) const;
  // Whether two results of the task do not agree.
  [[nodiscard]] bool differ(const TaskId& task) const;
  // The job ended; everything about it is forgotten. Unknown jobs are nothing.
  void remove_job(const JobId& job);

  // Refused where the job is unknown, the task does not exist or is settled, or the worker has
  // delivered this task before. A repetition of an uncovered result replaces it.
  [[nodiscard]] std::vector<Decision> add_result(const Replica& replica);
  // `claims` of one receipt by `worker`. A claim that meets no result yet is kept until the result
  // comes (at most claims_waiting_max a worker, the oldest dropped); one whose root differs from
  // the result refuses the result.
  [[nodiscard]] std::vector<Decision> add_receipt(const PublicKey& worker,
                                                  std::span<const Claim> claims);
  void forget_claims(const PublicKey& worker) { waiting_.erase(worker); }
  void forget_claim(const PublicKey& worker, const TaskId& task, std::uint32_t attempt) {
    (void)take_claim(worker, {task, attempt});
  }
  // The lease of an uncovered result was lost: forgets it. Counted ones stay.
  void withdraw(const TaskId& task, const PublicKey& worker);
  // No further worker can be asked (scheduler: NoWorkerLeft). Fails the job where the task's
  // replicas differ; nothing where there are merely too few of them. A ballot is content with a
  // lead of `lead_min` then.
  [[nodiscard]] std::vector<Decision> give_up(const TaskId& task, std::uint32_t lead_min = 2);

  [[nodiscard]] bool is_accepted(const TaskId& task) const;
  [[nodiscard]] std::uint32_t accepted_count(const JobId& job) const;
  [[nodiscard]] Reputation reputation(const PublicKey& worker) const;
  void restore_reputation(const PublicKey& worker, Reputation reputation);

  static constexpr std::size_t claims_waiting_max = 4096;
  static constexpr std::uint32_t voters_max = 128;  // Voters in one ballot.

 private:
  struct Held {
    PublicKey worker;
    std::uint32_t attempt = 0;
    Hash root;
    bool covered = false;
    bool rejected = false;  // Found wrong; its worker is not asked again.
    [[nodiscard]] bool counts() const { return covered && !rejected; }
  };
  struct Task {
    std::vector<Held> replicas;  // In the order of arrival.
    std::uint32_t wanted = 0;
    std::optional<Ballot> ballot;
    bool provisional = false;  // Said so.
  };
  // The votes of a ballot: the members of the largest group, centre first, and how many voted for
  // the next.
  struct Count {
    std::vector<std::size_t> best;
    std::uint32_t rival = 0;
    std::uint32_t votes = 0;
  };
  struct Job {
    Policy policy;
    std::uint32_t accepted_count = 0;
    std::vector<bool> accepted;                    // By index.
    std::unordered_map<std::uint32_t, Task> open;  // By index; looked up only.
  };
  struct AttemptId {
    TaskId task;
    std::uint32_t attempt = 0;
    friend auto operator<=>(const AttemptId&, const AttemptId&) = default;
  };
  // Claims of one worker that came before their results.
  struct Waiting {
    struct Row {
      Hash root;
      std::uint64_t age = 0;
    };
    std::map<AttemptId, Row> rows;
    std::map<std::uint64_t, AttemptId> by_age;
    std::uint64_t next_age = 0;
  };

  // Nothing where the job is unknown or has no such task.
  Job* job_with(const TaskId& task);
  void keep_claim(const PublicKey& worker, const Claim& claim);
  std::optional<Hash> take_claim(const PublicKey& worker, const AttemptId& id);
  void cover(const TaskId& task, Job& job, const PublicKey& worker, const Hash& claimed,
             std::vector<Decision>& out);
  void judge(const TaskId& task, Job& job, std::vector<Decision>& out);
  // The largest group that agrees with its centre, no more than a quorum of it: the centre first,
  // then the others by arrival.
  [[nodiscard]] std::vector<std::size_t> best_group(const TaskId& task, const Job& job,
                                                    const Task& state) const;
  [[nodiscard]] Count count_votes(const TaskId& task, const Job& job, const Task& state) const;
  [[nodiscard]] bool believed_differ(const TaskId& task, const Policy& policy) const;
  void judge_ballot(const TaskId& task, Job& job, std::vector<Decision>& out);
  // All whose results agree with this one's, in the order of arrival.
  [[nodiscard]] std::vector<std::size_t> all_with(const TaskId& task, const Job& job,
                                                  const Task& state, const Hash& root) const;
  // Accepts what `best` is the centre of, or says that it would be, where they do not decide.
  void conclude(const TaskId& task, Job& job, std::vector<std::size_t> best,
                std::vector<Decision>& out);
  static void say_provisional(const TaskId& task, Task& state,
                              const std::vector<std::size_t>& members, const Hash& root,
                              std::vector<Decision>& out);
  void accept(const TaskId& task, Job& job, std::vector<std::size_t> quorum,
              std::vector<Decision>& out);

  std::unordered_map<JobId, Job> jobs_;             // Looked up only.
  std::unordered_map<PublicKey, Waiting> waiting_;  // Looked up only.
  std::unordered_map<PublicKey, Reputation> reputation_;
};

}  // namespace weft::trust
