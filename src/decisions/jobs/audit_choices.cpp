#include "decisions/jobs/audit_choices.h"

#include <algorithm>
#include <set>
#include <utility>

#include "common/manifest/split.h"
#include "common/manifest/step_groups.h"
#include "decisions/trust/audit.h"

namespace weft::jobs {

std::vector<PublicKey> possible_auditors(CoreTables& tables, const Audit& audit,
                                         const RunningJob& job, Moment now) {
  const TaskId& task = audit.wanted.task;
  std::vector<PublicKey> able = tables.scheduler.views().able(task.job);
  const auto delivered = job.delivered.find(task.index);
  const auto leased = job.leased.find(task.index);
  std::erase_if(able, [&](const PublicKey& key) {
    if (audit.wanted.trusted_only) {
      // Tabs never verify for others, and the results of newcomers decide nothing.
      const auto level = tables.trust.level(key, now.unix);
      auto* const connected = tables.workers.find(key);
      if (level == trust::Level::newcomer ||
          (audit.wanted.dispute && level != trust::Level::root) || connected == nullptr ||
          connected->hello.kind != protocol::WorkerKind::native)
        return true;
      // Two wallets of one owner count as one opinion: they do not check each other, and do not
      // both second a third wallet. A root's word counts alone.
      const auto is_same_owner = [&,
                                  owner = tables.accounts.owner_of(key)](const PublicKey& other) {
        return tables.accounts.owner_of(other) == owner;
      };
      if (level != trust::Level::root && (is_same_owner(audit.wanted.suspect) ||
                                          std::ranges::any_of(audit.wanted.except, is_same_owner)))
        return true;
    }
    return key == audit.wanted.suspect || audit.asked.contains(key) ||
           tables.trust.book().suspended(key, now.unix) ||
           (delivered != job.delivered.end() && delivered->second.contains(key)) ||
           (leased != job.leased.end() && leased->second.contains(key));
  });
  return able;
}

namespace {

// The drawn groups of the result, each with the state before it.
std::vector<VerifyOrder::Group> groups_of(const Audit& audit, const manifest::Manifest& manifest,
                                          const protocol::TaskResult& suspected) {
  std::vector<VerifyOrder::Group> groups;
  const std::vector<Hash>& roots = suspected.step_roots;
  for (const std::uint32_t number : audit.wanted.groups) {
    const manifest::StepRange steps = manifest::steps_of_group(manifest, number);
    VerifyOrder::Group& group = groups.emplace_back();
    group.first = steps.first;
    group.count = steps.count;
    group.after = number < roots.size() ? roots[number] : suspected.root;
    const auto asked = std::ranges::find(audit.states.groups, number);
    if (asked == audit.states.groups.end()) continue;
    group.before = roots[number - 1];
    group.state = audit.states.blobs[static_cast<std::size_t>(asked - audit.states.groups.begin())];
  }
  return groups;
}

}  // namespace

VerifyOrder verify_order(CoreTables& tables, Audit& audit, const RunningJob& job,
                         const protocol::TaskResult& suspected) {
  const TaskId& task = audit.wanted.task;
  const auto& delivered = job.delivered.at(task.index);
  const auto whole = manifest::task_range(*job.manifest, task.index);
  VerifyOrder order{.task = task,
                    .manifest = job.manifest,
                    .root = audit.wanted.root,
                    .outputs = blobs_of(suspected),
                    .ranges = {},
                    .client = job.row.client,
                    .first = audit.of_newcomer,
                    .rivals = {},
                    .parts = audit.wanted.parts};
  if (order.first) {
    // One network has one share of the verifier's time. A worker of the coordinator's own network
    // has a share of its own.
    auto* const worker = tables.workers.find(audit.wanted.suspect);
    order.group =
        worker == nullptr || worker->prefix.empty() ? audit.wanted.suspect.text() : worker->prefix;
  }
  if (audit.wanted.samples >= audit.wanted.parts) {
    order.ranges.push_back(whole);
  } else {
    // The parts are drawn only now, after the result has arrived.
    std::set<std::uint32_t> drawn{audit.wanted.part};
    for (std::uint64_t number = 1000; drawn.size() < audit.wanted.samples; ++number) {
      drawn.insert(static_cast<std::uint32_t>(
          trust::draw_below(audit.wanted.parts, tables.settings.secret, trust::Purpose::audit_part,
                            task, audit.wanted.suspect, number)));
    }
    for (const std::uint32_t number : drawn) {
      const auto part =
          trust::part_of({.first = whole.first, .count = whole.count}, audit.wanted.parts, number);
      order.ranges.push_back({.first = part.first, .count = part.count});
    }
  }
  order.groups = groups_of(audit, *job.manifest, suspected);
  audit.drawn = order.ranges;
  audit.rivals.clear();
  for (const Hash& rival : audit.wanted.rivals) {
    const auto other = std::ranges::find_if(
        delivered, [&](const auto& each) { return each.second.result.root == rival; });
    if (other == delivered.end()) continue;
    order.rivals.push_back(blobs_of(other->second.result));
    audit.rivals.push_back(rival);
  }
  return order;
}

}  // namespace weft::jobs
