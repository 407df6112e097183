#include "worker/tasks/signed_roots.h"

#include <iterator>

#include "common/base/byte_reader.h"
#include "common/base/check.h"

namespace weft::worker {
namespace {

void append_key(ByteVector& out, const TaskKey& key) {
  append(out, key.task.job.span());
  append_le(out, key.task.index);
  append_le(out, key.attempt);
}

TaskKey read_key(ByteReader& in) {
  const auto job = in.fixed<JobId>();
  const auto index = in.integer<std::uint32_t>();
  return {.task = {.job = job, .index = index}, .attempt = in.integer<std::uint32_t>()};
}

// The index in the record of the mark of dropped jobs, if there is such a mark. The record's
// attempt is 0.
constexpr std::uint32_t any_dropped = 1;

// Attempts are numbered from 1: a record of attempt 0 is a job's mark, with the attempt in the
// place of the root.
void append_mark(ByteVector& out, const JobId& job, SignedRoots::Marks::Place mark) {
  append_key(out, {.task = {.job = job, .index = mark.first}, .attempt = 0});
  const std::size_t begin = out.size();
  append_le(out, mark.second);
  out.resize(begin + Hash::size);
}

}  // namespace

bool SignedRoots::Marks::forgotten(const TaskKey& key) const {
  if (key.attempt == 0) return true;
  if (const auto found = jobs.find(key.task.job); found != jobs.end())
    return Place{key.task.index, key.attempt} <= found->second;
  return dropped && key.task.job <= *dropped;
}

SignedRoots::Verdict SignedRoots::look(const TaskKey& key, const Hash& root) const {
  if (const auto job = jobs_.find(key.task.job); job != jobs_.end()) {
    const auto found = job->second.roots.find({key.task.index, key.attempt});
    if (found != job->second.roots.end())
      return found->second == root ? Verdict::same : Verdict::other;
  }
  return marks_.forgotten(key) ? Verdict::forgotten : Verdict::fresh;
}

ByteVector SignedRoots::add(const TaskKey& key, const Hash& root) {
  check(look(key, root) == Verdict::fresh, "a root is signed once");
  ByteVector record;
  append_key(record, key);
  append(record, root.span());
  take(record);
  return record;
}

bool SignedRoots::shrink() {
  if (size_ <= entries_max_ && jobs_.size() <= jobs_max()) return false;
  if (jobs_.size() > jobs_max()) drop_oldest_jobs();
  if (size_ > entries_max_) forget_lower_halves();
  return true;
}

std::vector<JobId> SignedRoots::jobs_by_age() const {
  std::vector<std::pair<std::uint64_t, JobId>> order;
  order.reserve(jobs_.size());
  for (const auto& [id, job] : jobs_) order.emplace_back(job.signed_last, id);
  std::ranges::sort(order);
  std::vector<JobId> out;
  out.reserve(order.size());
  for (const auto& [age, id] : order) out.push_back(id);
  return out;
}

// Drops more jobs than exceed the bound, because all records are stored again each time.
void SignedRoots::drop_oldest_jobs() {
  const std::size_t kept = jobs_max() - jobs_max() / 4;
  for (const JobId& id : jobs_by_age()) {
    if (jobs_.size() <= kept) break;
    size_ -= jobs_.at(id).roots.size();
    jobs_.erase(id);
    marks_.jobs.erase(id);
    marks_.dropped = std::max(marks_.dropped.value_or(id), id);
  }
}

void SignedRoots::forget_lower_halves() {
  while (size_ > entries_max_ / 2) {
    std::size_t most = 0;
    for (const auto& [id, job] : jobs_) most = std::max(most, job.roots.size());
    for (auto& [id, job] : jobs_) {
      if (job.roots.size() * 2 <= most) continue;
      const auto kept =
          std::next(job.roots.begin(), static_cast<std::ptrdiff_t>((job.roots.size() + 1) / 2));
      Place& mark = marks_.jobs.at(id);
      mark = std::max(mark, std::prev(kept)->first);
      size_ -= (job.roots.size() + 1) / 2;
      job.roots.erase(job.roots.begin(), kept);
    }
  }
}

ByteVector SignedRoots::all() const {
  ByteVector out;
  out.reserve(key_bytes + (size_ + jobs_.size()) * record_bytes);
  append_key(out, {.task = {.job = marks_.dropped.value_or(JobId{}),
                            .index = marks_.dropped ? any_dropped : 0},
                   .attempt = 0});
  for (const JobId& id : jobs_by_age()) {
    if (const Place mark = marks_.jobs.at(id); mark != Place{}) append_mark(out, id, mark);
    for (const auto& [place, root] : jobs_.at(id).roots) {
      append_key(out, {.task = {.job = id, .index = place.first}, .attempt = place.second});
      append(out, root.span());
    }
  }
  return out;
}

SignedRoots SignedRoots::from(ByteSpan stored, std::size_t entries_max) {
  SignedRoots out(entries_max);
  if (stored.size() < key_bytes) return out;
  ByteReader in(stored.first(key_bytes));
  const TaskKey mark = read_key(in);
  if (mark.attempt != 0 || mark.task.index == any_dropped) out.marks_.dropped = mark.task.job;
  if (mark.attempt != 0) {
    ByteVector record;
    append_mark(record, mark.task.job, {mark.task.index, mark.attempt});
    out.take(record);
  }
  out.take(stored.subspan(key_bytes));
  return out;
}

void SignedRoots::take(ByteSpan records) {
  for (; records.size() >= record_bytes; records = records.subspan(record_bytes)) {
    ByteReader in(records.first(record_bytes));
    const TaskKey key = read_key(in);
    Job& job = jobs_[key.task.job];
    Place& mark = marks_.jobs[key.task.job];
    job.signed_last = ++signed_last_;
    if (key.attempt == 0) {
      mark = std::max(mark, {key.task.index, in.integer<std::uint32_t>()});
    } else if (job.roots.try_emplace({key.task.index, key.attempt}, in.fixed<Hash>()).second) {
      ++size_;
    }
  }
}

}  // namespace weft::worker
