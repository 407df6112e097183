#include "decisions/trust/trust.h"

#include <algorithm>

#include "common/base/check.h"
#include "common/base/format.h"

namespace weft::trust {
namespace {

std::uint32_t replicas_max(const Policy& policy) {
  return policy.replicas_max == 0 ? 2 * policy.replicas - 1
                                  : std::max(policy.replicas_max, policy.replicas);
}

}  // namespace

void Trust::add_job(const JobId& job, Policy policy, std::uint32_t tasks) {
  check(policy.replicas > 0, "a quorum has at least one replica");
  const auto [place, is_new] = jobs_.try_emplace(job);
  check(is_new, "a job is added once");
  place->second.policy = std::move(policy);
  place->second.accepted.resize(tasks);
}

void Trust::restore_accepted(const TaskId& task) {
  Job* job = job_with(task);
  check(job != nullptr && !job->accepted[task.index],
        "an accepted task is restored once, into its job");
  job->accepted[task.index] = true;
  ++job->accepted_count;
}

void Trust::restore_counted(const Replica& replica) {
  Job* job = job_with(replica.task);
  check(job != nullptr, "a replica is restored into its job");
  if (job->accepted[replica.task.index]) return;
  Task& state = job->open[replica.task.index];
  if (!state.ballot) state.wanted = std::max(state.wanted, job->policy.replicas);
  state.replicas.push_back({.worker = replica.worker,
                            .attempt = replica.attempt,
                            .root = replica.root,
                            .covered = true});
}

std::vector<Decision> Trust::restored(const JobId& id) {
  std::vector<Decision> out;
  const auto found = jobs_.find(id);
  check(found != jobs_.end(), "a job is restored after it is added");
  std::vector<std::uint32_t> open;
  for (const auto& [index, task] : found->second.open) open.push_back(index);
  std::ranges::sort(open);
  for (const std::uint32_t index : open) {
    if (!jobs_.contains(id)) break;  // It has failed.
    judge({.job = id, .index = index}, found->second, out);
  }
  return out;
}

void Trust::set_ballot(const TaskId& task, const Ballot& ballot) {
  check(ballot.quorum > 0, "a ballot has at least one vote");
  Job* job = job_with(task);
  if (job == nullptr || job->accepted[task.index]) return;
  Task& state = job->open[task.index];
  state.ballot = ballot;
  state.provisional = false;
  // reconsider() asks again for whatever this ballot still lacks.
  state.wanted = static_cast<std::uint32_t>(std::ranges::count_if(state.replicas, &Held::covered));
}

void Trust::clear_ballot(const TaskId& task) {
  Job* job = job_with(task);
  if (job == nullptr || job->accepted[task.index]) return;
  const auto open = job->open.find(task.index);
  if (open == job->open.end()) return;
  open->second.ballot.reset();
  open->second.provisional = false;
  open->second.wanted = std::max(open->second.wanted, job->policy.replicas);
}

std::vector<Decision> Trust::reconsider(const TaskId& task) {
  std::vector<Decision> out;
  Job* job = job_with(task);
  if (job != nullptr && job->open.contains(task.index)) judge(task, *job, out);
  return out;
}

std::vector<Replica> Trust::counted(const TaskId& task) const {
  std::vector<Replica> replicas;
  const auto job = jobs_.find(task.job);
  if (job == jobs_.end()) return replicas;
  const auto open = job->second.open.find(task.index);
  if (open == job->second.open.end()) return replicas;
  for (const Held& held : open->second.replicas) {
    if (held.counts())
      replicas.push_back(
          {.task = task, .worker = held.worker, .attempt = held.attempt, .root = held.root});
  }
  return replicas;
}

bool Trust::differ(const TaskId& task) const {
  const auto job = jobs_.find(task.job);
  if (job == jobs_.end()) return false;
  const auto open = job->second.open.find(task.index);
  return open != job->second.open.end() && count_votes(task, job->second, open->second).rival > 0;
}

std::vector<Trust::Group> Trust::groups(const TaskId& task) const {
  std::vector<Group> found;
  const auto job = jobs_.find(task.job);
  if (job == jobs_.end()) return found;
  const auto open = job->second.open.find(task.index);
  if (open == job->second.open.end()) return found;
  const Task& state = open->second;
  std::vector<bool> taken(state.replicas.size());
  for (std::size_t centre = 0; centre < state.replicas.size(); ++centre) {
    if (!state.replicas[centre].counts() || taken[centre]) continue;
    Group group{.root = state.replicas[centre].root, .workers = {}};
    for (const std::size_t member : all_with(task, job->second, state, group.root)) {
      if (taken[member]) continue;
      taken[member] = true;
      group.workers.push_back(state.replicas[member].worker);
    }
    found.push_back(std::move(group));
  }
  std::ranges::stable_sort(found, std::ranges::greater{},
                           [](const Group& group) { return group.workers.size(); });
  return found;
}

std::uint32_t Trust::votes(const TaskId& task) const {
  const auto job = jobs_.find(task.job);
  if (job == jobs_.end()) return 0;
  const auto open = job->second.open.find(task.index);
  return open == job->second.open.end() ? 0
                                        : static_cast<std::uint32_t>(std::ranges::count_if(
                                              open->second.replicas, &Held::covered));
}

std::vector<std::size_t> Trust::all_with(const TaskId& task, const Job& job, const Task& state,
                                         const Hash& root) const {
  std::vector<std::size_t> members;
  for (std::size_t i = 0; i < state.replicas.size(); ++i) {
    const Held& held = state.replicas[i];
    if (!held.counts()) continue;
    const bool same = held.root == root;
    if (!same && !(job.policy.agree && job.policy.agree(task, root, held.root))) continue;
    // The bytes that were checked are taken, not those that agree with them.
    same ? (void)members.insert(members.begin(), i) : members.push_back(i);
  }
  if (members.empty() || state.replicas[members.front()].root != root) return {};
  std::ranges::sort(members.begin() + 1, members.end());
  return members;
}

std::vector<Decision> Trust::reject(const TaskId& task, const Hash& root, std::string_view reason) {
  std::vector<Decision> out;
  Job* job = job_with(task);
  if (job == nullptr) return out;
  const auto open = job->open.find(task.index);
  if (open == job->open.end()) return out;
  Task& state = open->second;
  for (Held& held : state.replicas) {
    // Within a tolerance others may still be right.
    if (!held.counts() || held.root != root) continue;
    held.rejected = true;
    ++reputation_[held.worker].refused;
    out.push_back(Refused{.task = task,
                          .worker = held.worker,
                          .attempt = held.attempt,
                          .reason = std::string(reason),
                          .wrong = true,
                          .margin = 0,
                          .root = root});
  }
  state.provisional = false;
  // Whatever is missing now is asked for again.
  state.wanted = static_cast<std::uint32_t>(std::ranges::count_if(state.replicas, &Held::covered));
  judge(task, *job, out);
  return out;
}

void Trust::remove_job(const JobId& job) { jobs_.erase(job); }

std::vector<Decision> Trust::add_result(const Replica& replica) {
  std::vector<Decision> out;
  const auto refuse = [&](std::string reason) {
    out.push_back(Refused{replica.task, replica.worker, replica.attempt, std::move(reason)});
    return std::move(out);
  };
  Job* job = job_with(replica.task);
  if (job == nullptr) return refuse("There is no such task.");
  if (job->accepted[replica.task.index]) return refuse("The task is settled already.");
  Task& state = job->open[replica.task.index];
  if (!state.ballot) state.wanted = std::max(state.wanted, job->policy.replicas);
  const auto earlier = std::ranges::find(state.replicas, replica.worker, &Held::worker);
  if (earlier != state.replicas.end()) {
    if (earlier->covered) return refuse("This worker has delivered this task already.");
    state.replicas.erase(earlier);
  }
  state.replicas.push_back(
      {.worker = replica.worker, .attempt = replica.attempt, .root = replica.root});
  if (const auto claimed = take_claim(replica.worker, {replica.task, replica.attempt}))
    cover(replica.task, *job, replica.worker, *claimed, out);
  return out;
}

std::vector<Decision> Trust::add_receipt(const PublicKey& worker, std::span<const Claim> claims) {
  std::vector<Decision> out;
  for (const Claim& claim : claims) {
    Job* job = job_with(claim.task);
    if (job == nullptr || job->accepted[claim.task.index])
      continue;  // Nothing hangs on it any more.
    const auto open = job->open.find(claim.task.index);
    const bool here =
        open != job->open.end() &&
        std::ranges::any_of(open->second.replicas, [&](const Held& held) {
          return held.worker == worker && held.attempt == claim.attempt && !held.covered;
        });
    if (here) {
      cover(claim.task, *job, worker, claim.root, out);
    } else {
      keep_claim(worker, claim);
    }
  }
  return out;
}

void Trust::withdraw(const TaskId& task, const PublicKey& worker) {
  Job* job = job_with(task);
  if (job == nullptr) return;
  const auto open = job->open.find(task.index);
  if (open == job->open.end()) return;
  std::erase_if(open->second.replicas,
                [&](const Held& held) { return held.worker == worker && !held.covered; });
}

std::vector<Decision> Trust::give_up(const TaskId& task, std::uint32_t lead_min) {
  std::vector<Decision> out;
  Job* job = job_with(task);
  if (job == nullptr) return out;
  const auto open = job->open.find(task.index);
  if (open == job->open.end()) return out;
  if (open->second.ballot) {
    Count count = count_votes(task, *job, open->second);
    const auto best = static_cast<std::uint32_t>(count.best.size());
    if (best > 0 && best >= count.rival + lead_min) {
      conclude(task, *job, std::move(count.best), out);
    } else if (count.rival > 0 && believed_differ(task, job->policy)) {
      // Otherwise they do not differ: there are too few.
      out.push_back(JobFailed{
          task.job, weft::format("replicas differ: task {} has {} results, {} against {}, "
                                 "and no further worker is there to ask.",
                                 task.index, count.votes, best, count.rival)});
      jobs_.erase(task.job);
    }
    return out;
  }
  const auto counted = std::ranges::count_if(open->second.replicas, &Held::counts);
  if (static_cast<std::uint32_t>(counted) < job->policy.replicas)
    return out;  // They do not differ: there are too few.
  if (!believed_differ(task, job->policy)) return out;
  out.push_back(
      JobFailed{task.job, weft::format("replicas differ: task {} has {} results of which no {} "
                                       "agree, and no further worker is there to ask.",
                                       task.index, counted, job->policy.replicas)});
  jobs_.erase(task.job);
  return out;
}

bool Trust::is_accepted(const TaskId& task) const {
  const auto found = jobs_.find(task.job);
  return found != jobs_.end() && task.index < found->second.accepted.size() &&
         found->second.accepted[task.index];
}

std::uint32_t Trust::accepted_count(const JobId& job) const {
  const auto found = jobs_.find(job);
  return found == jobs_.end() ? 0 : found->second.accepted_count;
}

Reputation Trust::reputation(const PublicKey& worker) const {
  const auto found = reputation_.find(worker);
  return found == reputation_.end() ? Reputation{} : found->second;
}

void Trust::restore_reputation(const PublicKey& worker, Reputation reputation) {
  reputation_[worker] = reputation;
}

Trust::Job* Trust::job_with(const TaskId& task) {
  const auto found = jobs_.find(task.job);
  return found == jobs_.end() || task.index >= found->second.accepted.size() ? nullptr
                                                                             : &found->second;
}

void Trust::keep_claim(const PublicKey& worker, const Claim& claim) {
  Waiting& waiting = waiting_[worker];
  const AttemptId id{claim.task, claim.attempt};
  if (const auto known = waiting.rows.find(id); known != waiting.rows.end())
    waiting.by_age.erase(known->second.age);
  const std::uint64_t age = waiting.next_age++;
  waiting.rows[id] = {.root = claim.root, .age = age};
  waiting.by_age[age] = id;
  if (waiting.rows.size() > claims_waiting_max) {
    const auto oldest = waiting.by_age.begin();
    waiting.rows.erase(oldest->second);
    waiting.by_age.erase(oldest);
  }
}

std::optional<Hash> Trust::take_claim(const PublicKey& worker, const AttemptId& id) {
  const auto waiting = waiting_.find(worker);
  if (waiting == waiting_.end()) return {};
  const auto row = waiting->second.rows.find(id);
  if (row == waiting->second.rows.end()) return {};
  const Hash root = row->second.root;
  waiting->second.by_age.erase(row->second.age);
  waiting->second.rows.erase(row);
  if (waiting->second.rows.empty()) waiting_.erase(waiting);
  return root;
}

void Trust::cover(const TaskId& task, Job& job, const PublicKey& worker, const Hash& claimed,
                  std::vector<Decision>& out) {
  Task& state = job.open.at(task.index);
  const auto held = std::ranges::find(state.replicas, worker, &Held::worker);
  if (held->root != claimed) {
    out.push_back(
        Refused{task, worker, held->attempt, "The receipt names a root other than the result's."});
    state.replicas.erase(held);
    return;
  }
  held->covered = true;
  out.push_back(Counted{task, worker, held->attempt});
  judge(task, job, out);
}

// Looks for a replica that agrees with enough others to make a quorum with it. Within a tolerance
// agreement is not transitive, which is why a quorum has a centre: the replica whose bytes are
// taken.
std::vector<std::size_t> Trust::best_group(const TaskId& task, const Job& job,
                                           const Task& state) const {
  const Policy& policy = job.policy;
  const auto agree = [&](const Hash& a, const Hash& b) {
    return a == b || (policy.agree && policy.agree(task, a, b));
  };

  std::vector<std::size_t> counted;
  for (std::size_t i = 0; i < state.replicas.size(); ++i) {
    if (state.replicas[i].counts()) counted.push_back(i);
  }
  std::vector<std::size_t> best;
  for (const std::size_t centre : counted) {
    const Hash& root = state.replicas[centre].root;
    std::vector<std::size_t> group = {centre};
    for (const std::size_t other : counted) {
      if (other != centre && group.size() < policy.replicas &&
          agree(root, state.replicas[other].root))
        group.push_back(other);
    }
    if (group.size() > best.size() ||
        (group.size() == best.size() && root < state.replicas[best.front()].root))
      best = std::move(group);
  }

  return best;
}

bool Trust::policy_decides(const TaskId& task) const {
  const auto job = jobs_.find(task.job);
  if (job == jobs_.end()) return false;
  const auto open = job->second.open.find(task.index);
  if (open == job->second.open.end()) return false;
  const Policy& policy = job->second.policy;
  const auto best = static_cast<std::uint32_t>(best_group(task, job->second, open->second).size());
  const auto count =
      static_cast<std::uint32_t>(std::ranges::count_if(open->second.replicas, &Held::counts));
  return best == policy.replicas || count + policy.replicas - best > replicas_max(policy);
}

// Free wallets can differ as often as they like: that says nothing about the job.
bool Trust::believed_differ(const TaskId& task, const Policy& policy) const {
  if (!policy.decides) return true;
  return std::ranges::count_if(
             groups(task), [&](const Group& group) { return policy.decides(group.workers); }) > 1;
}

void Trust::judge(const TaskId& task, Job& job, std::vector<Decision>& out) {
  Task& state = job.open.at(task.index);
  if (state.ballot) return judge_ballot(task, job, out);
  const Policy& policy = job.policy;
  std::vector<std::size_t> best = best_group(task, job, state);
  if (best.size() == policy.replicas) return conclude(task, job, std::move(best), out);
  const auto count =
      static_cast<std::uint32_t>(std::ranges::count_if(state.replicas, &Held::covered));
  const auto rejected =
      static_cast<std::uint32_t>(std::ranges::count_if(state.replicas, &Held::rejected));
  if (count < state.wanted) return;
  const auto missing = policy.replicas - static_cast<std::uint32_t>(best.size());
  if (believed_differ(task, policy) && count - rejected + missing > replicas_max(policy)) {
    out.push_back(JobFailed{
        task.job, weft::format("replicas differ: task {} has {} results of which no {} agree.",
                               task.index, count, policy.replicas)});
    jobs_.erase(task.job);
    return;
  }
  state.wanted = count + missing;
  out.push_back(NeedReplicas{task, state.wanted});
}

Trust::Count Trust::count_votes(const TaskId& task, const Job& job, const Task& state) const {
  const auto agree = [&](const Hash& a, const Hash& b) {
    return a == b || (job.policy.agree && job.policy.agree(task, a, b));
  };
  Count count;
  std::vector<std::vector<std::size_t>> groups;  // Around each replica, itself first.
  for (std::size_t centre = 0; centre < state.replicas.size(); ++centre) {
    if (!state.replicas[centre].counts()) continue;
    ++count.votes;
    auto& group = groups.emplace_back(1, centre);
    for (std::size_t other = 0; other < state.replicas.size(); ++other) {
      if (other != centre && state.replicas[other].counts() &&
          agree(state.replicas[centre].root, state.replicas[other].root))
        group.push_back(other);
    }
  }
  for (const auto& group : groups) {
    const bool smaller_root = !count.best.empty() && state.replicas[group.front()].root <
                                                         state.replicas[count.best.front()].root;
    if (group.size() > count.best.size() || (group.size() == count.best.size() && smaller_root))
      count.best = group;
  }
  for (const auto& group : groups) {
    if (std::ranges::contains(count.best, group.front())) continue;
    const auto against = std::ranges::count_if(
        group, [&](std::size_t member) { return !std::ranges::contains(count.best, member); });
    count.rival = std::max(count.rival, static_cast<std::uint32_t>(against));
  }
  return count;
}

void Trust::judge_ballot(const TaskId& task, Job& job, std::vector<Decision>& out) {
  Task& state = job.open.at(task.index);
  const Ballot& ballot = *state.ballot;
  if (ballot.winner) {
    if (auto group = all_with(task, job, state, *ballot.winner); !group.empty())
      return accept(task, job, std::move(group), out);
  }
  Count count = count_votes(task, job, state);
  const auto best = static_cast<std::uint32_t>(count.best.size());
  if (best > 0 && best >= ballot.quorum && best >= count.rival + ballot.lead) {
    if (!ballot.held) return conclude(task, job, std::move(count.best), out);
    const Hash root = state.replicas[count.best.front()].root;
    return say_provisional(task, state, count.best, root, out);
  }
  const auto rejected =
      static_cast<std::uint32_t>(std::ranges::count_if(state.replicas, &Held::rejected));
  if (count.votes + rejected < state.wanted) return;
  const std::uint32_t for_quorum = ballot.quorum > best ? ballot.quorum - best : 0;
  const std::uint32_t for_lead =
      count.rival + ballot.lead > best ? count.rival + ballot.lead - best : 0;
  const std::uint32_t wanted = count.votes + rejected + std::max(for_quorum, for_lead);
  if (wanted > voters_max) {
    if (!believed_differ(task, job.policy)) return;  // Others will decide.
    out.push_back(JobFailed{
        task.job,
        weft::format("replicas differ: task {} has {} results, {} against {}, and no end in sight.",
                     task.index, count.votes, best, count.rival)});
    jobs_.erase(task.job);
    return;
  }
  state.wanted = wanted;
  out.push_back(NeedReplicas{task, state.wanted});
}

void Trust::say_provisional(const TaskId& task, Task& state,
                            const std::vector<std::size_t>& members, const Hash& root,
                            std::vector<Decision>& out) {
  if (std::exchange(state.provisional, true)) return;
  Provisional provisional{.task = task, .root = root, .agreeing = {}};
  std::vector<std::size_t> by_arrival = members;
  std::ranges::sort(by_arrival);
  for (const std::size_t member : by_arrival)
    provisional.agreeing.push_back(state.replicas[member].worker);
  out.push_back(std::move(provisional));
}

void Trust::conclude(const TaskId& task, Job& job, std::vector<std::size_t> best,
                     std::vector<Decision>& out) {
  if (!job.policy.decides) return accept(task, job, std::move(best), out);
  Task& state = job.open.at(task.index);
  const Hash root = state.replicas[best.front()].root;
  const std::vector<std::size_t> all = all_with(task, job, state, root);
  const auto decide = [&](const std::vector<std::size_t>& members) {
    std::vector<PublicKey> workers;
    for (const std::size_t member : members) workers.push_back(state.replicas[member].worker);
    return job.policy.decides(workers);
  };
  if (decide(best)) return accept(task, job, std::move(best), out);
  if (decide(all)) return accept(task, job, all, out);
  say_provisional(task, state, all, root, out);
}

void Trust::accept(const TaskId& task, Job& job, std::vector<std::size_t> quorum,
                   std::vector<Decision>& out) {
  const Task state = std::move(job.open.at(task.index));
  job.open.erase(task.index);
  job.accepted[task.index] = true;
  ++job.accepted_count;

  const Held& centre = state.replicas[quorum.front()];
  Accepted accepted{.task = task, .root = centre.root, .worker = centre.worker, .agreeing = {}};
  std::vector<std::size_t> by_arrival = quorum;
  std::ranges::sort(by_arrival);
  for (const std::size_t member : by_arrival) {
    (accepted.agreeing.size() < job.policy.replicas ? accepted.agreeing : accepted.jurors)
        .push_back(state.replicas[member].worker);
    ++reputation_[state.replicas[member].worker].accepted;
  }
  std::ranges::sort(accepted.agreeing);
  std::ranges::sort(accepted.jurors);
  out.push_back(std::move(accepted));

  const auto agrees = [&](const Hash& root) {
    return root == centre.root || (job.policy.agree && job.policy.agree(task, centre.root, root));
  };
  for (std::size_t i = 0; i < state.replicas.size(); ++i) {
    const Held& held = state.replicas[i];
    if (std::ranges::contains(quorum, i)) continue;
    if (held.rejected) continue;  // Refused already.
    if (!held.covered) {
      out.push_back(Refused{task, held.worker, held.attempt,
                            "The task was settled before the receipt came."});
    } else if (agrees(held.root)) {
      out.push_back(
          Refused{task, held.worker, held.attempt, "The quorum was complete without it."});
    } else {
      ++reputation_[held.worker].refused;
      const auto alike = std::ranges::count_if(state.replicas, [&](const Held& other) {
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
