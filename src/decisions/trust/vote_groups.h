// Groups the results of one open task that agree by the job's policy. Within a tolerance agreement
// is not transitive. So each group has a centre, with which all members agree and whose bytes are
// taken.
//
// Pure; a view that is valid as long as the task is open and no result is added or removed.
#pragma once

#include <cstdint>
#include <vector>

#include "common/base/ids.h"
#include "decisions/trust/vote_table.h"

namespace weft::trust {

// The results of a task that agree with each other.
struct VoteGroup {
  Hash root;
  std::vector<PublicKey> workers;  // The workers in the order of arrival.
};

class VoteGroups {
 public:
  explicit VoteGroups(const VoteTable::Open& open)
      : task_(open.task), policy_(open.policy), votes_(open.votes) {}
  explicit VoteGroups(const VoteTable::OpenView& open)
      : task_(open.task), policy_(open.policy), votes_(open.votes) {}

  // The members of a group, as indexes into TaskVotes::replicas.
  using Members = std::vector<std::size_t>;

  // Returns the largest group whose members agree with the group's centre, cut to the size of a
  // quorum: the centre first, then the other members in the order of arrival.
  [[nodiscard]] Members quorum() const;
  // The votes of a ballot: the members of the largest group (the centre first), the size of the
  // largest other group, and the number of all votes.
  struct Count {
    Members best;
    std::uint32_t rival = 0;
    std::uint32_t votes = 0;
  };
  [[nodiscard]] Count count() const;
  // Returns all members whose results agree with this root: first a member with exactly this root,
  // then the other members in the order of arrival. Empty if no result has the root.
  [[nodiscard]] Members all_with(const Hash& root) const;
  // Returns the groups of results that agree, the largest group first.
  [[nodiscard]] std::vector<VoteGroup> by_agreement() const;
  // True if at least two groups have workers that decide. A difference between wallets that cost
  // nothing says nothing about the job.
  [[nodiscard]] bool believed_differ() const;

 private:
  [[nodiscard]] bool agree(const Hash& a, const Hash& b) const {
    return a == b || (policy_.agree && policy_.agree(task_, a, b));
  }

  const TaskId task_;
  const Policy& policy_;
  const TaskVotes& votes_;
};

}  // namespace weft::trust
