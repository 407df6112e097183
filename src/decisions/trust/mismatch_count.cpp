#include "decisions/trust/mismatch_count.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace weft::trust {

void MismatchCount::add(const JobId& id, std::span<const Shown> shown, RefereePass& pass) {
  struct Case {
    const Shown* first = nullptr;  // The first conclusive mismatch, or else the first.
    Evidence::Mismatches known;
  };
  // The workers with their cases, in the order of `shown`.
  std::vector<std::pair<PublicKey, Case>> cases;
  for (const Shown& each : shown) {
    const PublicKey& worker = each.mismatch.worker;
    auto found = std::ranges::find(cases, worker, &std::pair<PublicKey, Case>::first);
    if (found == cases.end()) found = cases.emplace(cases.end(), worker, Case{});
    Case& its = found->second;
    if (its.first == nullptr || (each.conclusive && !its.first->conclusive)) its.first = &each;
    its.known = record(id, each.mismatch, pass.now);
  }
  for (const auto& [worker, its] : cases) {
    const bool conclusive = its.first->conclusive;
    if (!conclusive && its.known.clients < tables_.settings.defences.clients_to_convict) continue;
    tables_.standing.evidence().forget_mismatches(worker);
    tables_.stakes.free_mismatches(worker);
    convictions_.convict(its.first->mismatch.task, worker, its.known.penalty,
                         tables_.cases.at(id).value,
                         conclusive ? "The worker's result is wrong, and many other devices of the "
                                      "same vendor have the right one."
                                    : "The worker's results of jobs of several clients are wrong.",
                         pass);
  }
}

Evidence::Mismatches MismatchCount::record(const JobId& id, const Mismatch& mismatch,
                                           UnixMillis now) {
  const PublicKey& worker = mismatch.worker;
  Standing& standing = tables_.standing;
  const bool is_new = !mismatch.counted || !tables_.stakes.keeps_mismatch(worker, mismatch.task);
  if (is_new) tables_.stakes.keep_mismatch(worker, mismatch.task);
  return standing.evidence().mismatch(
      worker, {.client = standing.admissions().owner(tables_.cases.at(id).terms.client),
               .task = mismatch.task,
               .at = now,
               .penalty = is_new ? mismatch.penalty : 0});
}

}  // namespace weft::trust
