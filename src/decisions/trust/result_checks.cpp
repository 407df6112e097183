#include "decisions/trust/result_checks.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "decisions/trust/draw.h"
#include "decisions/trust/step_draw.h"

namespace weft::trust {

AuditWanted& ResultChecks::sample(const TaskId& task, const Hash& root, const PublicKey& suspect,
                                  RefereePass& pass) {
  Standing& standing = tables_.standing;
  TaskCase& open = *tables_.cases.case_of(task);
  const JobTerms& terms = tables_.cases.at(task.job).terms;
  held_.leave(task, open);
  open.stage = Stage::auditing;
  open.root = root;
  open.suspect = suspect;
  // A job with groups of steps is not cut into parts, so that a task has one part.
  const std::uint32_t parts =
      open.rates.audit > 0 && terms.groups == 1
          ? open.rates.parts
          : std::clamp<std::uint32_t>(terms.parts, 1, tables_.settings.checks.audit_parts_max);
  AuditWanted wanted{.task = task, .suspect = suspect, .root = root, .parts = parts};
  Hash steps;
  for (const Replica& each : tables_.votes.counted(task)) {
    if (each.worker != suspect) continue;
    wanted.attempt = each.attempt;
    steps = each.steps;
  }
  wanted.part = static_cast<std::uint32_t>(
      draw_below(parts, tables_.secret, Purpose::audit_part, task, suspect, open.audits++));
  wanted.trusted_only = !standing.trusts_heads() && !terms.by_heads();
  const bool is_newcomer =
      standing.level(suspect, pass.now) == Level::newcomer && !standing.trusts_heads();
  const double known = is_newcomer ? standing.book().verified(suspect, pass.now) : 0;
  const auto drawn_of = [&](std::uint32_t all) {
    return is_newcomer
               ? std::max(1U, static_cast<std::uint32_t>(static_cast<double>(all) / (1 + known)))
               : 1U;
  };
  const bool whole = standing.take_whole_check(suspect);
  wanted.samples = whole ? parts : drawn_of(parts);
  wanted.except = open.seconded;
  for (const Trust::Group& group : tables_.votes.groups(task)) {
    if (group.root != root) wanted.rivals.push_back(group.root);
  }
  wanted.dispute = !wanted.rivals.empty();
  const std::uint32_t groups = drawn_of(terms.groups);
  if (!whole && !wanted.dispute && steps != Hash() && groups < terms.groups &&
      groups <= terms.groups_apart_max) {
    if (!tables_.settings.defences.groups_depend_on_roots) steps = {};
    wanted.groups = drawn_groups({.task = task, .worker = suspect, .steps = steps}, terms.groups,
                                 groups, tables_.secret);
  }
  open.rivals = wanted.rivals;
  open.part = wanted.part;
  open.samples = wanted.samples;
  return std::get<AuditWanted>(pass.out.emplace_back(std::move(wanted)));
}

void ResultChecks::check_pair(const TaskId& task, const Hash& root, const PublicKey& first,
                              RefereePass& pass) {
  sample(task, root, first, pass).by_root = true;
  tables_.cases.case_of(task)->believed = true;
}

std::vector<Trust::Group> ResultChecks::believed(const TaskId& task, bool rootless,
                                                 UnixMillis now) const {
  std::vector<Trust::Group> groups = tables_.votes.groups(task);
  std::erase_if(groups, [&](const Trust::Group& group) {
    return rootless ? !tables_.standing.decides(group.workers, now)
                    : !tables_.standing.settles(group.workers, now);
  });
  return groups;
}

void ResultChecks::dispute(const TaskId& task, RefereePass& pass) {
  const Ballot by_jury{.quorum = 1, .lead = tables_.jury()};
  if (tables_.standing.trusts_heads() || tables_.cases.at(task.job).terms.by_heads())
    return held_.vote(task, Stage::disputed, by_jury, pass);
  const std::vector<Trust::Group> groups = tables_.votes.groups(task);
  if (groups.empty()) return;
  const Trust::Group& first = groups.front();
  TaskCase& open = tables_.cases.case_for(task, first.workers.front());
  const std::vector<Trust::Group> right = believed(task, open.rootless, pass.now);
  const bool accused = open.accuser.has_value();
  if (right.size() == 1 && groups.size() > 1) return held_.release(task, pass, right.front().root);
  if (!right.empty() || open.rootless || (groups.size() == 1 && !accused))
    return held_.vote(task, Stage::disputed, by_jury, pass);
  tables_.votes.set_ballot(task, {.quorum = 2, .lead = 2});
  const std::uint32_t part = open.part;
  const std::uint32_t samples = open.samples;
  AuditWanted& wanted = sample(task, first.root, first.workers.front(), pass);
  wanted.dispute = true;
  wanted.groups.clear();  // The results differ: steps alone decide nothing.
  if (accused && groups.size() == 1) {
    // A root computes the part that the accuser computed. In other parts the result may be right,
    // and an honest accuser would seem to lie.
    wanted.part = part;
    wanted.samples = samples > 1 ? wanted.parts : 1;
  }
}

}  // namespace weft::trust
