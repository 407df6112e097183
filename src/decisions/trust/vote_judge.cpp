#include "decisions/trust/vote_judge.h"

#include <algorithm>
#include <string>
#include <utility>

#include "common/base/format.h"

namespace weft::trust {
namespace {

std::uint32_t replicas_max(const Policy& policy) {
  return policy.replicas_max == 0 ? 2 * policy.replicas - 1
                                  : std::max(policy.replicas_max, policy.replicas);
}

}  // namespace

bool VoteJudge::policy_decides(const VoteTable::OpenView& open) {
  const auto best = static_cast<std::uint32_t>(VoteGroups(open).quorum().size());
  return best == open.policy.replicas ||
         open.votes.counting() + open.policy.replicas - best > replicas_max(open.policy);
}

void VoteJudge::judge(const VoteTable::Open& open, std::vector<Decision>& out) {
  if (open.votes.ballot) return judge_ballot(open, out);
  const Policy& policy = open.policy;
  const VoteGroups groups(open);
  VoteGroups::Members best = groups.quorum();
  if (best.size() == policy.replicas) return conclude(open, std::move(best), out);
  const std::uint32_t count = open.votes.covered();
  if (count < open.votes.wanted) return;
  const auto missing = policy.replicas - static_cast<std::uint32_t>(best.size());
  if (groups.believed_differ() && count - open.votes.rejected() + missing > replicas_max(policy))
    return fail_job(open.task.job,
                    weft::format("replicas differ: task {} has {} results of which no {} agree.",
                                 open.task.index, count, policy.replicas),
                    out);
  open.votes.wanted = count + missing;
  out.push_back(NeedReplicas{open.task, open.votes.wanted});
}

void VoteJudge::judge_ballot(const VoteTable::Open& open, std::vector<Decision>& out) {
  TaskVotes& votes = open.votes;
  const Ballot& ballot = *votes.ballot;
  const VoteGroups groups(open);
  if (ballot.winner) {
    if (const auto group = groups.all_with(*ballot.winner); !group.empty())
      return accept(open, group, out);
  }
  VoteGroups::Count count = groups.count();
  const auto best = static_cast<std::uint32_t>(count.best.size());
  if (best > 0 && best >= ballot.quorum && best >= count.rival + ballot.lead) {
    if (!ballot.held) return conclude(open, std::move(count.best), out);
    return say_provisional(open, count.best, votes.replicas[count.best.front()].root, out);
  }
  const std::uint32_t rejected = votes.rejected();
  if (count.votes + rejected < votes.wanted) return;
  const std::uint32_t for_quorum = ballot.quorum > best ? ballot.quorum - best : 0;
  const std::uint32_t for_lead =
      count.rival + ballot.lead > best ? count.rival + ballot.lead - best : 0;
  const std::uint32_t wanted = count.votes + rejected + std::max(for_quorum, for_lead);
  if (wanted > voters_max) {
    // The job does not fail if only undecided wallets differ, because further results will decide.
    if (!groups.believed_differ()) return;
    return fail_job(
        open.task.job,
        weft::format(
            "replicas differ: task {} has {} results, {} against {}, and more than {} would be "
            "needed to decide.",
            open.task.index, count.votes, best, count.rival, voters_max),
        out);
  }
  votes.wanted = wanted;
  out.push_back(NeedReplicas{open.task, votes.wanted});
}

void VoteJudge::give_up(const VoteTable::Open& open, std::uint32_t lead_min,
                        std::vector<Decision>& out) {
  const VoteGroups groups(open);
  if (open.votes.ballot) {
    VoteGroups::Count count = groups.count();
    const auto best = static_cast<std::uint32_t>(count.best.size());
    if (best > 0 && best >= count.rival + lead_min)
      return conclude(open, std::move(count.best), out);
    // The job fails only if results differ. If all results agree and are too few, it does not fail.
    if (count.rival > 0 && groups.believed_differ())
      fail_job(open.task.job,
               weft::format("replicas differ: task {} has {} results, {} against {}, "
                            "and no further worker is there to ask.",
                            open.task.index, count.votes, best, count.rival),
               out);
    return;
  }
  const std::uint32_t counted = open.votes.counting();
  // The job fails only if the quorum's number of results is there and they differ.
  if (counted < open.policy.replicas || !groups.believed_differ()) return;
  fail_job(open.task.job,
           weft::format("replicas differ: task {} has {} results of which no {} "
                        "agree, and no further worker is there to ask.",
                        open.task.index, counted, open.policy.replicas),
           out);
}

void VoteJudge::fail_job(const JobId& job, std::string reason, std::vector<Decision>& out) {
  out.push_back(JobFailed{job, std::move(reason)});
  table_.remove_job(job);
}

void VoteJudge::say_provisional(const VoteTable::Open& open, const VoteGroups::Members& members,
                                const Hash& root, std::vector<Decision>& out) {
  if (std::exchange(open.votes.provisional, true)) return;
  Provisional provisional{.task = open.task, .root = root, .agreeing = {}};
  VoteGroups::Members by_arrival = members;
  std::ranges::sort(by_arrival);
  for (const std::size_t member : by_arrival)
    provisional.agreeing.push_back(open.votes.replicas[member].worker);
  out.push_back(std::move(provisional));
}

void VoteJudge::conclude(const VoteTable::Open& open, VoteGroups::Members best,
                         std::vector<Decision>& out) {
  if (!open.policy.decides) return accept(open, best, out);
  const Hash root = open.votes.replicas[best.front()].root;
  const VoteGroups::Members all = VoteGroups(open).all_with(root);
  const auto decide = [&](const VoteGroups::Members& members) {
    std::vector<PublicKey> workers;
    for (const std::size_t member : members) workers.push_back(open.votes.replicas[member].worker);
    return open.policy.decides(workers);
  };
  if (decide(best)) return accept(open, best, out);
  if (decide(all)) return accept(open, all, out);
  say_provisional(open, all, root, out);
}

void VoteJudge::accept(const VoteTable::Open& open, const VoteGroups::Members& quorum,
                       std::vector<Decision>& out) {
  const TaskVotes votes = table_.settle(open.task);
  const HeldReplica& centre = votes.replicas[quorum.front()];
  Accepted accepted{
      .task = open.task, .root = centre.root, .worker = centre.worker, .agreeing = {}};
  VoteGroups::Members by_arrival = quorum;
  std::ranges::sort(by_arrival);
  for (const std::size_t member : by_arrival) {
    const PublicKey& worker = votes.replicas[member].worker;
    (accepted.agreeing.size() < open.policy.replicas ? accepted.agreeing : accepted.jurors)
        .push_back(worker);
    counts_.accepted(worker);
  }
  std::ranges::sort(accepted.agreeing);
  std::ranges::sort(accepted.jurors);
  out.push_back(std::move(accepted));
  refuse_rest(open.task, open.policy, votes, quorum, out);
}

void VoteJudge::refuse_rest(const TaskId& task, const Policy& policy, const TaskVotes& votes,
                            const VoteGroups::Members& quorum, std::vector<Decision>& out) {
  const Hash& right = votes.replicas[quorum.front()].root;
  for (std::size_t i = 0; i < votes.replicas.size(); ++i) {
    const HeldReplica& held = votes.replicas[i];
    if (std::ranges::contains(quorum, i)) continue;
    if (held.rejected) continue;  // A rejected result was refused at its rejection.
    if (!held.covered) {
      out.push_back(Refused{task, held.worker, held.attempt,
                            "The task was settled before the receipt came."});
    } else if (held.root == right || (policy.agree && policy.agree(task, right, held.root))) {
      out.push_back(
          Refused{task, held.worker, held.attempt, "The quorum was complete without this result."});
    } else {
      counts_.refused(held.worker);
      const auto alike = std::ranges::count_if(votes.replicas, [&](const HeldReplica& other) {
        return other.covered && other.root == held.root;
      });
      const auto margin = static_cast<std::ptrdiff_t>(quorum.size()) - alike;
      out.push_back(
          Refused{.task = task,
                  .worker = held.worker,
                  .attempt = held.attempt,
                  .reason = "The result differs from the accepted one.",
                  .wrong = true,
                  .margin = static_cast<std::uint32_t>(std::max<std::ptrdiff_t>(margin, 0)),
                  .root = held.root});
    }
  }
}

}  // namespace weft::trust
