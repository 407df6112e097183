// Which results of one open task agree, by the job's policy. Within a tolerance agreement is not
// transitive, which is why a group has a centre: the replica whose bytes are taken.
//
// Pure; a view, valid as long as the task is open and no result comes or goes.
#pragma once

#include <cstdint>
#include <vector>

#include "common/base/ids.h"
#include "decisions/trust/vote_table.h"

namespace weft::trust {

// Results of a task that agree.
struct VoteGroup {
  Hash root;
  std::vector<PublicKey> workers;  // In the order of arrival.
};

class VoteGroups {
 public:
  explicit VoteGroups(const VoteTable::Open& open)
      : task_(open.task), policy_(open.policy), votes_(open.votes) {}
  explicit VoteGroups(const VoteTable::OpenView& open)
      : task_(open.task), policy_(open.policy), votes_(open.votes) {}

  // Members are places in TaskVotes::replicas.
  using Members = std::vector<std::size_t>;

  // The largest group that agrees with its centre, no more than a quorum of it: the centre first,
  // then the others by arrival.
  [[nodiscard]] Members quorum() const;
  // The votes of a ballot: the members of the largest group, centre first, and how many voted for
  // the next.
  struct Count {
    Members best;
    std::uint32_t rival = 0;
    std::uint32_t votes = 0;
  };
  [[nodiscard]] Count count() const;
  // All whose results agree with this root, one that has it first, the others in the order of
  // arrival; none where no result has it.
  [[nodiscard]] Members all_with(const Hash& root) const;
  // By what agrees, the largest group first.
  [[nodiscard]] std::vector<VoteGroup> by_agreement() const;
  // Whether two groups are believed. Free wallets can differ as often as they like: that says
  // nothing about the job.
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
