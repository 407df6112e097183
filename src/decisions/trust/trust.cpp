#include "decisions/trust/trust.h"

#include <algorithm>
#include <string>

#include "common/base/check.h"

namespace weft::trust {

void Trust::restore_counted(const Replica& replica) {
  check(table_.has(replica.task), "a replica is restored into its job");
  const auto open = table_.open(replica.task);
  if (!open) return;
  TaskVotes& votes = open->votes;
  if (!votes.ballot) votes.wanted = std::max(votes.wanted, open->policy.replicas);
  votes.replicas.push_back({.worker = replica.worker,
                            .attempt = replica.attempt,
                            .root = replica.root,
                            .steps = replica.steps,
                            .covered = true});
}

std::vector<Decision> Trust::restored(const JobId& id) {
  std::vector<Decision> out;
  for (const TaskId& task : table_.open_tasks(id)) {
    // Skipped if the task's job has failed.
    if (const auto open = table_.find(task)) judge_.judge(*open, out);
  }
  return out;
}

void Trust::set_ballot(const TaskId& task, const Ballot& ballot) {
  check(ballot.quorum > 0, "a ballot has at least one vote");
  const auto open = table_.open(task);
  if (!open) return;
  open->votes.ballot = ballot;
  open->votes.provisional = false;
  // reconsider() asks again for whatever this ballot still lacks.
  open->votes.wanted = open->votes.covered();
}

void Trust::clear_ballot(const TaskId& task) {
  const auto open = table_.find(task);
  if (!open) return;
  open->votes.ballot.reset();
  open->votes.provisional = false;
  open->votes.wanted = std::max(open->votes.wanted, open->policy.replicas);
}

std::vector<Decision> Trust::reconsider(const TaskId& task) {
  std::vector<Decision> out;
  if (const auto open = table_.find(task)) judge_.judge(*open, out);
  return out;
}

std::vector<Replica> Trust::counted(const TaskId& task) const {
  std::vector<Replica> replicas;
  const auto open = table_.find(task);
  if (!open) return replicas;
  for (const HeldReplica& held : open->votes.replicas) {
    if (held.counts())
      replicas.push_back({.task = task,
                          .worker = held.worker,
                          .attempt = held.attempt,
                          .root = held.root,
                          .steps = held.steps});
  }
  return replicas;
}

std::vector<Trust::Group> Trust::groups(const TaskId& task) const {
  const auto open = table_.find(task);
  return open ? VoteGroups(*open).by_agreement() : std::vector<Group>{};
}

std::uint32_t Trust::votes(const TaskId& task) const {
  const auto open = table_.find(task);
  return open ? open->votes.covered() : 0;
}

bool Trust::policy_decides(const TaskId& task) const {
  const auto open = table_.find(task);
  return open && VoteJudge::policy_decides(*open);
}

bool Trust::differ(const TaskId& task) const {
  const auto open = table_.find(task);
  return open && VoteGroups(*open).count().rival > 0;
}

std::vector<Decision> Trust::reject(const TaskId& task, const Hash& root, std::string_view reason,
                                    const std::optional<PublicKey>& of, Rejected as) {
  const bool wrong = as == Rejected::wrong;
  std::vector<Decision> out;
  const auto open = table_.find(task);
  if (!open) return out;
  for (HeldReplica& held : open->votes.replicas) {
    // Only results with this root are rejected, because other roots within the tolerance may be
    // right.
    if (!held.counts() || held.root != root || (of && held.worker != *of)) continue;
    held.rejected = true;
    if (wrong) counts_.refused(held.worker);
    out.push_back(Refused{.task = task,
                          .worker = held.worker,
                          .attempt = held.attempt,
                          .reason = std::string(reason),
                          .wrong = wrong,
                          .margin = 0,
                          .root = root});
  }
  open->votes.provisional = false;
  // The missing replicas are asked for again.
  open->votes.wanted = open->votes.covered();
  judge_.judge(*open, out);
  return out;
}

std::vector<Decision> Trust::add_result(const Replica& replica) {
  std::vector<Decision> out;
  const auto refuse = [&](std::string reason) {
    out.push_back(Refused{replica.task, replica.worker, replica.attempt, std::move(reason)});
    return std::move(out);
  };
  if (!table_.has(replica.task)) return refuse("The task does not exist.");
  const auto open = table_.open(replica.task);
  if (!open) return refuse("The task is settled already.");
  TaskVotes& votes = open->votes;
  if (!votes.ballot) votes.wanted = std::max(votes.wanted, open->policy.replicas);
  const auto earlier = std::ranges::find(votes.replicas, replica.worker, &HeldReplica::worker);
  if (earlier != votes.replicas.end()) {
    if (earlier->covered) return refuse("This worker has delivered this task already.");
    votes.replicas.erase(earlier);
  }
  votes.replicas.push_back({.worker = replica.worker,
                            .attempt = replica.attempt,
                            .root = replica.root,
                            .steps = replica.steps});
  if (const auto claimed = claims_.take(replica.worker, replica.task, replica.attempt))
    cover(*open, replica.worker, *claimed, out);
  return out;
}

std::vector<Decision> Trust::add_receipt(const PublicKey& worker, std::span<const Claim> claims) {
  std::vector<Decision> out;
  for (const Claim& claim : claims) {
    if (!table_.has(claim.task) || table_.is_accepted(claim.task))
      continue;  // The claim of a settled or unknown task is not needed.
    const auto open = table_.find(claim.task);
    const bool here =
        open && std::ranges::any_of(open->votes.replicas, [&](const auto& held) {
          return held.worker == worker && held.attempt == claim.attempt && !held.covered;
        });
    if (here) {
      cover(*open, worker, claim.root, out);
    } else {
      claims_.keep(worker, claim);
    }
  }
  return out;
}

void Trust::withdraw(const TaskId& task, const PublicKey& worker) {
  if (const auto open = table_.find(task))
    std::erase_if(open->votes.replicas,
                  [&](const HeldReplica& held) { return held.worker == worker && !held.covered; });
}

std::vector<Decision> Trust::give_up(const TaskId& task, std::uint32_t lead_min) {
  std::vector<Decision> out;
  if (const auto open = table_.find(task)) judge_.give_up(*open, lead_min, out);
  return out;
}

void Trust::cover(const VoteTable::Open& open, const PublicKey& worker, const Hash& claimed,
                  std::vector<Decision>& out) {
  auto& replicas = open.votes.replicas;
  const auto held = std::ranges::find(replicas, worker, &HeldReplica::worker);
  if (held->root != claimed) {
    out.push_back(Refused{open.task, worker, held->attempt,
                          "The receipt names a root other than the result's."});
    replicas.erase(held);
    return;
  }
  held->covered = true;
  out.push_back(Counted{open.task, worker, held->attempt});
  judge_.judge(open, out);
}

}  // namespace weft::trust
