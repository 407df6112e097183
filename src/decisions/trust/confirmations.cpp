#include "decisions/trust/confirmations.h"

#include <algorithm>
#include <vector>

namespace weft::trust {

void Confirmations::by_root(const JobId& id, const PublicKey& worker, const RefereePass& pass) {
  const RefereeSettings& settings = tables_.settings;
  Standing& standing = tables_.standing;
  if (!settings.defences.standing_under_roots) return;
  const JobCases& job = tables_.cases.at(id);
  if (!job.terms.evidence || job.terms.anyone) return;
  if (job.terms.eligible && job.terms.eligible() < settings.defences.eligible_min) return;
  const double price = settings.value_full <= 0 ? 1
                                                : static_cast<double>(job.value) /
                                                      static_cast<double>(settings.value_full);
  const double weight = standing.evidence().admit(
      worker, standing.admissions().owner(job.terms.client), std::clamp(price, 0.0, 1.0),
      standing.book().verified(worker, pass.now), settings.defences.client_share_max,
      settings.reputation.half_life, pass.now);
  if (weight > 0) standing.book().confirm(worker, std::min(weight, 1.0), pass.now);
}

void Confirmations::by_agreement(const TaskId& task, std::span<const PublicKey> group,
                                 bool with_root, const RefereePass& pass) {
  Standing& standing = tables_.standing;
  if (tables_.settings.defences.standing_under_roots) {
    if (!with_root) return;
    for (const PublicKey& each : group) {
      if (standing.level(each, pass.now) != Level::root) by_root(task.job, each, pass);
    }
    return;
  }
  if (group.size() < 2) return;
  // A confirmation weighs 1 if another established worker agrees, or as many other workers as a
  // jury has; with fewer workers it weighs less, in proportion.
  const auto is_established = [&](const PublicKey& each) {
    return standing.book().established(each, pass.now);
  };
  const auto believed = static_cast<std::size_t>(std::ranges::count_if(group, is_established));
  const double crowd = std::min(1.0, static_cast<double>(group.size() - 1) / (tables_.jury() - 1));
  std::vector<double> weights;
  for (const PublicKey& each : group)
    weights.push_back(believed > (is_established(each) ? 1U : 0U) ? 1.0 : crowd);
  for (std::size_t i = 0; i < group.size(); ++i)
    standing.book().confirm(group[i], weights[i], pass.now);
}

void Confirmations::by_check(const PublicKey& worker, const RefereePass& pass) {
  if (!tables_.settings.defences.standing_under_roots)
    tables_.standing.book().confirm(worker, 1, pass.now);
}

}  // namespace weft::trust
