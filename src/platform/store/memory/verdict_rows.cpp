#include "platform/store/memory/verdict_rows.h"

#include <algorithm>
#include <ranges>

namespace weft::store::memory {

void VerdictRows::write(const Evidence& each) {
  auto of_worker = evidence_of_[each.worker];
  const std::pair attempt{each.task, each.attempt};
  if (std::ranges::contains(of_worker, attempt) || of_worker.size() >= evidence_of_worker_max)
    return;
  of_worker.push_back(attempt);
  undo_.put(evidence_of_, each.worker, of_worker);
  evidence_.push_back(each);
  undo_.later([this] { evidence_.pop_back(); });
  if (evidence_.size() > evidence_max) forget_oldest_evidence();
}

Result<> VerdictRows::write(const Batch& batch) {
  for (const Task& task : batch.corrected_tasks) WEFT_OK(jobs_.correct(task));
  for (const auto& each : batch.rechecks) undo_.change(rechecks_, each.row.worker, each);
  for (const Correction& each : batch.corrections) {
    WEFT_OK(jobs_.row_of(each.task.job));
    undo_.put(corrections_, each.task, each);
  }
  for (const Check& each : batch.checks) {
    WEFT_OK(jobs_.row_of(each.task.job));
    checks_.push_back(each);
    undo_.later([this] { checks_.pop_back(); });
  }
  for (const Evidence& each : batch.evidence) write(each);
  for (const UnixMillis since : batch.checks_kept_since) {
    undo_.later([this, old = checks_] { checks_ = old; });
    std::erase_if(checks_, [&](const Check& each) { return each.time < since; });
  }
  return {};
}

void VerdictRows::forget_oldest_evidence() {
  const Evidence& oldest = evidence_.front();
  auto of_worker = evidence_of_.at(oldest.worker);
  std::erase(of_worker, std::pair{oldest.task, oldest.attempt});
  undo_.put(evidence_of_, oldest.worker, of_worker);
  undo_.later([this, oldest] { evidence_.push_front(oldest); });
  evidence_.pop_front();
}

void VerdictRows::load(Loaded& loaded) const {
  for (const auto& [worker, row] : rechecks_) loaded.rechecks.push_back(row);
  for (const JobId& id : jobs_.order()) {
    for (auto each = corrections_.lower_bound({.job = id, .index = 0});
         each != corrections_.end() && each->first.job == id; ++each)
      if (!each->second.settled) loaded.corrections.push_back(each->second);
  }
}

std::vector<Correction> VerdictRows::corrections(const JobId& id) const {
  std::vector<Correction> found;
  for (auto each = corrections_.lower_bound({.job = id, .index = 0});
       each != corrections_.end() && each->first.job == id; ++each)
    found.push_back(each->second);
  return found;
}

std::vector<Evidence> VerdictRows::evidence(std::size_t from, std::size_t count) const {
  return evidence_ | std::views::drop(from) | std::views::take(count) |
         std::ranges::to<std::vector>();
}

template <class Wanted>
std::vector<Check> VerdictRows::latest_checks(std::uint32_t count, Wanted wanted) const {
  std::vector<Check> found;
  for (auto each = checks_.rbegin(); each != checks_.rend() && found.size() < count; ++each)
    if (wanted(*each)) found.push_back(*each);
  std::ranges::reverse(found);
  return found;
}

std::vector<Check> VerdictRows::checks(const JobId& id, std::uint32_t count) const {
  return latest_checks(count, [&](const Check& each) { return each.task.job == id; });
}

std::vector<Check> VerdictRows::checks(const PublicKey& worker, std::uint32_t count) const {
  return latest_checks(count, [&](const Check& each) { return each.worker == worker; });
}

}  // namespace weft::store::memory
