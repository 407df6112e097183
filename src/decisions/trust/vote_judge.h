// Decides what follows from the results of an open task: the task is accepted, it needs further
// replicas, its job has failed, or nothing changes. If the task has a ballot, the ballot decides
// instead of the job's quorum.
//
// Pure. A decision that ends the task or its job removes it from the table.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "decisions/trust/acceptance_counts.h"
#include "decisions/trust/vote_groups.h"
#include "decisions/trust/vote_table.h"
#include "decisions/trust/vote_types.h"

namespace weft::trust {

class VoteJudge {
 public:
  static constexpr std::uint32_t voters_max = 128;  // The most voters in one ballot.

  // `table` and `counts` must outlive the object.
  VoteJudge(VoteTable& table, AcceptanceCounts& counts) : table_(table), counts_(counts) {}

  void judge(const VoteTable::Open& open, std::vector<Decision>& out);
  // Call it when no further worker can be asked: a lead of `lead_min` is then enough for a ballot.
  void give_up(const VoteTable::Open& open, std::uint32_t lead_min, std::vector<Decision>& out);
  // True if the job's own quorum would have decided by now.
  [[nodiscard]] static bool policy_decides(const VoteTable::OpenView& open);

 private:
  void judge_ballot(const VoteTable::Open& open, std::vector<Decision>& out);
  // Accepts the group with the centre `best` if its workers decide; otherwise reports it as
  // Provisional.
  void conclude(const VoteTable::Open& open, VoteGroups::Members best, std::vector<Decision>& out);
  static void say_provisional(const VoteTable::Open& open, const VoteGroups::Members& members,
                              const Hash& root, std::vector<Decision>& out);
  void accept(const VoteTable::Open& open, const VoteGroups::Members& quorum,
              std::vector<Decision>& out);
  // Refuses the results outside of the quorum of an accepted task, each with its reason.
  void refuse_rest(const TaskId& task, const Policy& policy, const TaskVotes& votes,
                   const VoteGroups::Members& quorum, std::vector<Decision>& out);
  void fail_job(const JobId& job, std::string reason, std::vector<Decision>& out);

  VoteTable& table_;
  AcceptanceCounts& counts_;
};

}  // namespace weft::trust
