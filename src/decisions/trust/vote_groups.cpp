#include "decisions/trust/vote_groups.h"

#include <algorithm>
#include <utility>

namespace weft::trust {

// Looks for a replica that agrees with enough others to make a quorum with it.
VoteGroups::Members VoteGroups::quorum() const {
  const auto& replicas = votes_.replicas;
  Members counted;
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    if (replicas[i].counts()) counted.push_back(i);
  }
  Members best;
  for (const std::size_t centre : counted) {
    const Hash& root = replicas[centre].root;
    Members group = {centre};
    for (const std::size_t other : counted) {
      if (other != centre && group.size() < policy_.replicas && agree(root, replicas[other].root))
        group.push_back(other);
    }
    if (group.size() > best.size() ||
        (group.size() == best.size() && root < replicas[best.front()].root))
      best = std::move(group);
  }
  return best;
}

VoteGroups::Count VoteGroups::count() const {
  const auto& replicas = votes_.replicas;
  Count count;
  // For each replica, the group around it, with the replica itself first.
  std::vector<Members> groups;
  for (std::size_t centre = 0; centre < replicas.size(); ++centre) {
    if (!replicas[centre].counts()) continue;
    ++count.votes;
    auto& group = groups.emplace_back(1, centre);
    for (std::size_t other = 0; other < replicas.size(); ++other) {
      if (other != centre && replicas[other].counts() &&
          agree(replicas[centre].root, replicas[other].root))
        group.push_back(other);
    }
  }
  for (const auto& group : groups) {
    const bool smaller_root =
        !count.best.empty() && replicas[group.front()].root < replicas[count.best.front()].root;
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

VoteGroups::Members VoteGroups::all_with(const Hash& root) const {
  Members members;
  for (std::size_t i = 0; i < votes_.replicas.size(); ++i) {
    const HeldReplica& held = votes_.replicas[i];
    if (!held.counts() || !agree(root, held.root)) continue;
    // A replica with the checked root goes first: its bytes are accepted, because they were
    // checked, and not bytes that only agree with them.
    held.root == root ? (void)members.insert(members.begin(), i) : members.push_back(i);
  }
  if (members.empty() || votes_.replicas[members.front()].root != root) return {};
  std::ranges::sort(members.begin() + 1, members.end());
  return members;
}

std::vector<VoteGroup> VoteGroups::by_agreement() const {
  std::vector<VoteGroup> found;
  std::vector<bool> taken(votes_.replicas.size());
  for (std::size_t centre = 0; centre < votes_.replicas.size(); ++centre) {
    if (!votes_.replicas[centre].counts() || taken[centre]) continue;
    VoteGroup group{.root = votes_.replicas[centre].root, .workers = {}};
    for (const std::size_t member : all_with(group.root)) {
      if (taken[member]) continue;
      taken[member] = true;
      group.workers.push_back(votes_.replicas[member].worker);
    }
    found.push_back(std::move(group));
  }
  std::ranges::stable_sort(found, std::ranges::greater{},
                           [](const VoteGroup& group) { return group.workers.size(); });
  return found;
}

bool VoteGroups::believed_differ() const {
  if (!policy_.decides) return true;
  return std::ranges::count_if(by_agreement(), [&](const VoteGroup& group) {
           return policy_.decides(group.workers);
         }) > 1;
}

}  // namespace weft::trust
