#include "decisions/trust/device_fault.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace weft::trust {

DeviceFault::Tally& DeviceFault::tally_of(const TaskId& task, const PublicKey& worker) {
  return jobs_[task.job].vendors[std::string(tables_.standing.admissions().vendor(worker))];
}

void DeviceFault::note_wrong(const TaskId& task, const PublicKey& worker, UnixMillis now) {
  if (tables_.standing.level(worker, now) == Level::newcomer) return;
  tally_of(task, worker).wrong.insert(tables_.standing.admissions().owner(worker));
}

void DeviceFault::note(const TaskId& task, const PublicKey& worker, const Hash& root,
                       RefereePass& pass) {
  changed_.insert(task.job);
  TaskCase& open = *tables_.cases.case_of(task);
  const JobTerms& terms = tables_.cases.at(task.job).terms;
  TaskStakes& stakes = tables_.stakes;
  Standing& standing = tables_.standing;
  MicroCredits penalty = worker == open.worker ? stakes.unlock(worker, task) : 0;
  if (penalty == 0) penalty = stakes.at_risk(open.value, stakes.rates(worker, terms, pass.now));
  Finding finding{.devices = open.finding.devices,
                  .vendor = open.finding.vendor,
                  .part = open.finding.part,
                  .refuted = open.finding.refuted};
  for (const auto& [other, part] : open.finding.rivals) {
    if (other == root) finding.part = part;
  }
  open.mismatches.push_back({.worker = worker,
                             .penalty = penalty,
                             .task = task,
                             .root = root,
                             .finding = std::move(finding)});
  // The penalty stays locked until it is known whether the worker or its device was at fault.
  stakes.lock_mismatch(worker, task, penalty);
  // If a root refuted only steps, the result may be right: settle() decides that.
  if (open.finding.refuted == Refuted::result) note_wrong(task, worker, pass.now);
  standing.sample_failed(worker);
  if (tables_.settings.defences.suspects_are_rechecked && open.finding.devices == Devices::two &&
      !terms.anyone && !standing.book().suspended(worker, pass.now))
    pass.out.emplace_back(Suspected{
        .task = task, .worker = worker, .client = standing.admissions().owner(terms.client)});
  standing.watch(worker);
}

void DeviceFault::note_refuted(const TaskId& task, TaskCase& closed, RefereePass& pass) {
  changed_.insert(task.job);
  const PublicKey auditor = *closed.accuser;
  const Defences& defences = tables_.settings.defences;
  if (!defences.only_roots_convict || !defences.same_vendor_confirms) {
    convictions_.convict(task, auditor, closed.value,
                         "The audit that the worker reported is refuted.", pass);
    return;
  }
  const JobTerms& terms = tables_.cases.at(task.job).terms;
  const MicroCredits penalty =
      tables_.stakes.at_risk(closed.value, tables_.stakes.rates(auditor, terms, pass.now));
  closed.mismatches.push_back({.worker = auditor, .penalty = penalty, .task = task});
  tables_.stakes.lock_mismatch(auditor, task, penalty);
  note_wrong(task, auditor, pass.now);
}

void DeviceFault::settle(const TaskCase& closed, const Accepted& accepted, RefereePass& pass) {
  const JobId& id = accepted.task.job;
  const JobCases* job = tables_.cases.find(id);
  if (closed.mismatches.empty() || job == nullptr) return;
  changed_.insert(id);
  if (job->terms.anyone) return;
  std::vector<PublicKey> group = accepted.agreeing;
  group.insert(group.end(), accepted.jurors.begin(), accepted.jurors.end());
  std::vector<Shown> shown;
  for (Mismatch mismatch : closed.mismatches) {
    const PublicKey& worker = mismatch.worker;
    // A whole result that was found wrong counts even if an accomplice's equal result is accepted.
    const bool is_accepted = tables_.settings.defences.accepted_is_no_mismatch &&
                             mismatch.finding.refuted == Refuted::steps &&
                             mismatch.root == accepted.root;
    if (mismatch.finding.devices == Devices::divided || is_accepted) {
      tables_.stakes.unlock_mismatch(worker, mismatch.task);
      continue;
    }
    if (mismatch.finding.refuted == Refuted::steps) note_wrong(accepted.task, worker, pass.now);
    mismatch.seen_twice = seen_twice(mismatch, group, pass.now);
    const bool by_operator = tables_.standing.operator_has_device_of(worker, group, pass.now);
    if ((by_operator || !tables_.settings.defences.same_vendor_confirms) && mismatch.seen_twice) {
      shown.push_back({.mismatch = std::move(mismatch)});
      continue;
    }
    Tally& tally = tally_of(accepted.task, worker);
    if (tally.divided) {
      tables_.stakes.unlock_mismatch(worker, mismatch.task);
    } else {
      tally.open.push_back(mismatch);
    }
  }
  const bool right = closed.root_agrees && !tables_.standing.trusts_heads();
  if (right) (void)tally_right(id, group, shown, pass.now);
  count_.add(id, shown, pass);
  if (right) poll(id, pass);
}

void DeviceFault::note_right(const JobId& id, std::span<const PublicKey> workers,
                             RefereePass& pass) {
  if (tables_.standing.trusts_heads()) return;
  std::vector<Shown> shown;
  const bool changes = tally_right(id, workers, shown, pass.now);
  count_.add(id, shown, pass);
  // No state is stored for a job without a wrong result.
  if ((changes || !shown.empty()) && stored_.contains(id)) changed_.insert(id);
  poll(id, pass);
}

bool DeviceFault::tally_right(const JobId& id, std::span<const PublicKey> workers,
                              std::vector<Shown>& shown, UnixMillis now) {
  const Defences& defences = tables_.settings.defences;
  bool changes = false;
  for (const PublicKey& each : workers) {
    if (tables_.standing.level(each, now) == Level::newcomer) continue;
    Tally& tally = tally_of({.job = id, .index = 0}, each);
    changes = tally.right.insert(tables_.standing.admissions().owner(each)).second || changes;
    std::erase_if(tally.open, [&](Mismatch& open) {
      const std::ptrdiff_t lead = lead_of_right(tally, open.worker);
      if (open.agreed < defences.part_lead_to_count || !open.seen_twice ||
          lead < static_cast<std::ptrdiff_t>(defences.lead_to_count))
        return false;
      const bool conclusive = lead >= static_cast<std::ptrdiff_t>(defences.lead_to_convict);
      if (conclusive || !std::exchange(open.counted, true)) shown.push_back({open, conclusive});
      return conclusive;
    });
  }
  return changes;
}

// The root's one device may be wrong, or be what a client wrote its shader against.
bool DeviceFault::seen_twice(const Mismatch& mismatch, std::span<const PublicKey> right,
                             UnixMillis now) const {
  if (!tables_.settings.defences.two_devices || mismatch.finding.devices == Devices::two)
    return true;
  const Admissions& admissions = tables_.standing.admissions();
  const auto differ = [](std::string_view a, std::string_view b) {
    return !a.empty() && !b.empty() && a != b;
  };
  // Many of the suspect's vendor have to agree with the root in any case.
  if (differ(admissions.vendor(mismatch.worker), mismatch.finding.vendor)) return true;
  std::vector<PublicKey> established;
  for (const PublicKey& each : right) {
    const Level its = tables_.standing.level(each, now);
    if (its == Level::newcomer || admissions.owner(each) == admissions.owner(mismatch.worker))
      continue;
    if (its != Level::established && differ(admissions.vendor(each), mismatch.finding.vendor))
      return true;
    for (const PublicKey& other : established) {
      if (admissions.owner(other) != admissions.owner(each) &&
          differ(admissions.vendor(other), admissions.vendor(each)))
        return true;
    }
    established.push_back(each);
  }
  return false;
}

// A job may differ by device in one task only, so that what others got right elsewhere in it says
// nothing of the part that the suspect got wrong.
void DeviceFault::poll(const JobId& id, RefereePass& pass) {
  const Defences& defences = tables_.settings.defences;
  if (defences.part_lead_to_count <= 0) return;
  const JobCases& known = tables_.cases.at(id);
  Job& job = jobs_[id];
  const std::uint32_t parts =
      std::clamp<std::uint32_t>(known.terms.parts, 1, tables_.settings.checks.audit_parts_max);
  const auto most =
      std::max<std::uint64_t>(std::uint64_t{2} * parts,
                              static_cast<std::uint64_t>(defences.polled_share_max *
                                                         static_cast<double>(known.tasks) * parts));
  if (job.polling || job.parts_polled >= most) return;
  for (auto& [vendor, tally] : job.vendors) {
    if (tally.divided) continue;
    for (Mismatch& open : tally.open) {
      if (open.polled || !open.seen_twice || !open.finding.part ||
          tables_.standing.book().verified(open.worker, pass.now) < 1 ||
          lead_of_right(tally, open.worker) < static_cast<std::ptrdiff_t>(defences.lead_to_count))
        continue;
      job.polling = true;
      open.polled = true;
      open.asked.insert(tables_.standing.admissions().owner(open.worker));
      return ask_poll(job, vendor, open, pass);
    }
  }
}

// Asks for as many workers at once as are enough to decide the poll if all of them agree.
void DeviceFault::ask_poll(Job& job, const std::string& vendor, Mismatch& mismatch,
                           RefereePass& pass) {
  mismatch.waiting = static_cast<std::uint32_t>(
      std::max(tables_.settings.defences.part_lead_to_count - mismatch.agreed, 1));
  job.parts_polled += mismatch.waiting;
  changed_.insert(mismatch.task.job);
  pass.out.emplace_back(PollWanted{.task = mismatch.task,
                                   .suspect = mismatch.worker,
                                   .root = mismatch.root,
                                   .part = *mismatch.finding.part,
                                   .vendor = vendor,
                                   .count = mismatch.waiting,
                                   .except = {mismatch.asked.begin(), mismatch.asked.end()}});
}

void DeviceFault::polled(const TaskId& task, const PublicKey& suspect, const PublicKey& worker,
                         AuditOutcome outcome, RefereePass& pass) {
  const auto found = jobs_.find(task.job);
  if (found == jobs_.end()) return;
  changed_.insert(task.job);
  Job& job = found->second;
  const Defences& defences = tables_.settings.defences;
  Standing& standing = tables_.standing;
  const auto is_asked_for = [&](const Mismatch& each) {
    return each.worker == suspect && each.task == task && each.waiting > 0;
  };
  // The suspect may say another vendor by now.
  const auto vendor = std::ranges::find_if(job.vendors, [&](const auto& each) {
    return std::ranges::any_of(each.second.open, is_asked_for);
  });
  if (vendor == job.vendors.end()) return;
  Tally& tally = vendor->second;
  const auto open = std::ranges::find_if(tally.open, is_asked_for);
  --open->waiting;
  if (outcome == AuditOutcome::failed || standing.level(worker, pass.now) == Level::newcomer) {
    open->missing = true;
  } else if (open->asked.insert(standing.admissions().owner(worker)).second) {
    open->agreed += outcome == AuditOutcome::agrees ? 1 : -1;
  }
  const bool shown = open->agreed >= defences.part_lead_to_count;
  const bool conclusive =
      lead_of_right(tally, suspect) >= static_cast<std::ptrdiff_t>(defences.lead_to_convict);
  if (shown && (conclusive || !std::exchange(open->counted, true)))
    count_.add(task.job, std::array{Shown{*open, conclusive}}, pass);
  const bool over = shown || standing.book().suspended(suspect, pass.now);
  if (open->agreed <= -defences.part_lead_to_drop) {
    drop(tally);
    job.polling = false;
  } else if (over || (open->waiting == 0 && open->missing)) {
    // If workers were missing, the next poll would not find more of them now; it waits for the next
    // right result.
    const bool next = !open->missing;
    open->waiting = 0;
    // A mismatch that is shown is kept, because it can still convict when the lead in the job has
    // grown.
    if (!shown && !open->counted) tables_.stakes.unlock_mismatch(suspect, task);
    if (!shown || standing.book().suspended(suspect, pass.now)) tally.open.erase(open);
    job.polling = false;
    if (next) poll(task.job, pass);
  } else if (open->waiting == 0) {
    ask_poll(job, vendor->first, *open, pass);
  }
}

void DeviceFault::drop(Tally& tally) {
  tally.divided = true;
  for (const Mismatch& each : tally.open) {
    if (!each.counted) tables_.stakes.unlock_mismatch(each.worker, each.task);
  }
  tally.open.clear();
}

std::ptrdiff_t DeviceFault::lead_of_right(const Tally& tally, const PublicKey& suspect) const {
  const PublicKey owner = tables_.standing.admissions().owner(suspect);
  const auto right =
      static_cast<std::ptrdiff_t>(tally.right.size()) - (tally.right.contains(owner) ? 1 : 0);
  const auto wrong =
      static_cast<std::ptrdiff_t>(tally.wrong.size()) + (tally.wrong.contains(owner) ? 0 : 1);
  return right - 2 * wrong;
}

void DeviceFault::remove_job(const JobId& id) {
  if (stored_.contains(id)) changed_.insert(id);
  const auto node = jobs_.extract(id);
  if (node.empty()) return;
  for (const auto& [vendor, tally] : node.mapped().vendors) {
    for (const Mismatch& each : tally.open) {
      if (!each.counted) tables_.stakes.unlock_mismatch(each.worker, each.task);
    }
  }
}

StoredFaults DeviceFault::stored(const JobId& id) const {
  StoredFaults all;
  const JobCases* const job = tables_.cases.find(id);
  if (job == nullptr) return all;
  if (const auto found = jobs_.find(id); found != jobs_.end()) all.faults = found->second;
  for (const auto& [index, open] : job->cases) {
    for (const Mismatch& each : open.mismatches)
      all.undecided.emplace_back(tables_.standing.admissions().vendor(each.worker), each);
  }
  return all;
}

std::vector<DeviceFault::Changed> DeviceFault::take_changed() {
  std::vector<Changed> changed;
  for (const JobId& id : std::exchange(changed_, {})) {
    const StoredFaults all = stored(id);
    if (!all.empty()) {
      stored_.insert(id);
      changed.push_back({.job = id, .state = to_bytes(all)});
    } else if (stored_.erase(id) > 0) {
      changed.push_back({.job = id, .state = {}});
    }
  }
  return changed;
}

Result<> DeviceFault::restore(const JobId& id, ByteSpan state, RefereePass& pass) {
  WEFT_ASSIGN(StoredFaults all, read_faults(id, state));
  stored_.insert(id);
  changed_.insert(id);
  Admissions& admissions = tables_.standing.admissions();
  const auto know_vendor = [&](const PublicKey& worker, const std::string& vendor) {
    if (admissions.vendor(worker).empty()) admissions.set_vendor(worker, vendor);
  };
  for (const auto& [vendor, tally] : all.faults.vendors) {
    for (const Mismatch& each : tally.open) {
      know_vendor(each.worker, vendor);
      if (!each.counted) {
        tables_.stakes.lock_mismatch(each.worker, each.task, each.penalty);
      } else if (!tables_.stakes.keeps_mismatch(each.worker, each.task)) {
        tables_.stakes.keep_mismatch(each.worker, each.task);
      }
    }
  }
  jobs_.insert_or_assign(id, std::move(all.faults));
  for (const auto& [vendor, mismatch] : all.undecided) {
    know_vendor(mismatch.worker, vendor);
    restore_undecided(mismatch, pass);
  }
  return {};
}

// Restores a mismatch of an undecided task, which the job's replicas compute again.
void DeviceFault::restore_undecided(const Mismatch& mismatch, RefereePass& pass) {
  const TaskId& task = mismatch.task;
  if (tables_.votes.is_accepted(task) || task.index >= tables_.cases.at(task.job).tasks) return;
  const bool is_new = tables_.cases.case_of(task) == nullptr;
  tables_.cases.case_for(task, mismatch.worker).mismatches.push_back(mismatch);
  tables_.stakes.lock_mismatch(mismatch.worker, task, mismatch.penalty);
  const std::uint32_t replicas = tables_.cases.at(task.job).terms.replicas;
  if (is_new && replicas > 1 && tables_.votes.counted(task).size() < replicas)
    pass.todo.push_back(NeedReplicas{.task = task, .replicas = replicas});
}

}  // namespace weft::trust
