#include "decisions/jobs/rechecks.h"

#include <algorithm>
#include <utility>

namespace weft::jobs {
namespace {

__extension__ using Wide = __int128;  // An extension of GCC and Clang.

}  // namespace

void Rechecks::look_from_the_start(Worker& its) {
  its.row.last.reset();
  its.page_last.reset();
  its.at_end = false;
  its.changed = true;
}

void Rechecks::begin(const PublicKey& worker, UnixMillis convicted) {
  const auto [place, is_new] = workers_.try_emplace(worker);
  Worker& its = place->second;
  const bool was_suspect = std::exchange(its.suspect, false);
  if (was_suspect) {
    its.convicted = convicted;
    return;
  }
  if (!is_new && !its.at_end) return;
  its.row.worker = worker;
  its.row.convicted = convicted;
  its.row.tasks = 0;
  look_from_the_start(its);
}

bool Rechecks::begin_suspect(const PublicKey& worker, const PublicKey& client,
                             UnixMillis suspected) {
  if (const auto found = workers_.find(worker); found != workers_.end()) {
    if (!found->second.suspect) return false;
    found->second.convicted = suspected;
    return true;
  }
  Worker& its = workers_[worker];
  its.row.worker = worker;
  its.row.convicted = suspected;
  its.suspect = true;
  std::optional<std::uint64_t> first;
  for (const auto& [key, each] : workers_) {
    if (key != worker && each.suspect && !is_over(each))
      first = std::min(first.value_or(each.turn), each.turn);
  }
  if (!first) turns_.clear();  // No other suspect waits, so the turns begin again.
  const auto latest = turns_.find(client);
  its.turn = std::max(first.value_or(0), latest == turns_.end() ? 0 : latest->second + 1);
  turns_[client] = its.turn;
  return true;
}

void Rechecks::restore(const store::Recheck& row) {
  workers_[row.worker] = {.row = row, .changed = false};
}

void Rechecks::took(const PublicKey& worker, MicroCredits amount) {
  const auto found = workers_.find(worker);
  if (found == workers_.end() || amount <= 0) return;
  found->second.row.taken += amount;
  found->second.changed = true;
}

std::vector<store::Recheck> Rechecks::changed() {
  std::vector<store::Recheck> rows;
  for (auto& [key, its] : workers_) {
    if (std::exchange(its.changed, false)) rows.push_back(its.row);
  }
  return rows;
}

std::vector<FindPaid> Rechecks::lookups() {
  std::vector<std::pair<const PublicKey, Worker>*> open;
  for (auto& each : workers_) {
    if (!is_over(each.second)) open.push_back(&each);
  }
  std::ranges::stable_sort(open, std::ranges::less{}, [](const auto* each) {
    return std::pair(each->second.suspect, each->second.turn);
  });
  std::vector<FindPaid> wanted;
  for (std::size_t i = 0; i < std::min(open.size(), active_max); ++i) {
    auto& [key, its] = *open[i];
    if (its.at_end || its.looking || its.waiting > 0) continue;
    its.looking = true;
    wanted.push_back({.worker = key,
                      .since = its.since.value_or(its.row.convicted - back),
                      .until = its.row.convicted,
                      .after = its.row.last,
                      .count = page_size});
  }
  return wanted;
}

bool Rechecks::looks_up() const {
  return std::ranges::any_of(workers_, [](const auto& each) { return each.second.looking; });
}

void Rechecks::found(const PublicKey& worker, const std::vector<TaskId>& tasks) {
  const auto found = workers_.find(worker);
  if (found == workers_.end()) return;
  Worker& its = found->second;
  its.looking = false;
  if (tasks.empty()) {
    its.at_end = true;
    return;
  }
  its.page_last = tasks.back();
  advance(its);
}

void Rechecks::advance(Worker& its) {
  if (its.waiting > 0 || !its.page_last) return;
  its.row.last = std::exchange(its.page_last, std::nullopt);
  its.changed = true;
}

bool Rechecks::has_room(const PublicKey& worker) {
  const auto found = workers_.find(worker);
  return found != workers_.end() && ++found->second.row.tasks <= tasks_max;
}

bool Rechecks::wait_for(const PublicKey& worker, const std::shared_ptr<const PaidTask>& paid) {
  const auto [place, is_new] =
      waiting_.try_emplace(paid->task, Waiting{.paid = paid, .workers = {}});
  if (place->second.workers.insert(worker).second) {
    if (const auto found = workers_.find(worker); found != workers_.end()) ++found->second.waiting;
  }
  return is_new;
}

std::shared_ptr<const PaidTask> Rechecks::waiting(const TaskId& task) const {
  const auto found = waiting_.find(task);
  return found == waiting_.end() ? nullptr : found->second.paid;
}

bool Rechecks::waits_for_client(const PublicKey& client) const {
  return std::ranges::any_of(waiting_,
                             [&](const auto& each) { return each.second.paid->client == client; });
}

std::set<PublicKey> Rechecks::computed(const TaskId& task) {
  auto node = waiting_.extract(task);
  if (node.empty()) return {};
  for (const PublicKey& worker : node.mapped().workers) {
    if (const auto found = workers_.find(worker);
        found != workers_.end() && found->second.waiting > 0) {
      --found->second.waiting;
      advance(found->second);
    }
  }
  return std::move(node.mapped().workers);
}

std::vector<store::Recheck> Rechecks::complete(UnixMillis now) {
  std::vector<store::Recheck> over;
  std::erase_if(workers_, [&](auto& each) {
    Worker& its = each.second;
    if (!is_over(its)) return false;
    if (its.convicted) {
      its.since = its.row.convicted;
      its.row.convicted = *std::exchange(its.convicted, std::nullopt);
      look_from_the_start(its);
      its.reported = false;
      return false;
    }
    if (its.suspect && now < its.row.convicted + settles_after) return false;
    if (its.suspect && !its.reported) return false;
    over.push_back(its.row);
    return true;
  });
  return over;
}

std::vector<std::pair<PublicKey, std::uint32_t>> Rechecks::take_computed_suspects() {
  std::vector<std::pair<PublicKey, std::uint32_t>> computed;
  for (auto& [key, its] : workers_) {
    if (its.suspect && is_over(its) && !std::exchange(its.reported, true))
      computed.emplace_back(key, its.row.tasks);
  }
  return computed;
}

MicroCredits price_paid(const store::Job& job, const manifest::Manifest& manifest,
                        std::size_t agreeing) {
  const MicroCredits of_task = job.price / std::max(job.tasks, 1U);
  return of_task / std::max<MicroCredits>(manifest.verify.replicas, 1) *
         static_cast<MicroCredits>(agreeing);
}

MicroCredits refund_of(MicroCredits due, MicroCredits due_to_all, MicroCredits taken) {
  if (due <= 0 || taken <= 0) return 0;
  if (due_to_all <= taken) return due;
  return static_cast<MicroCredits>(static_cast<Wide>(due) * taken / due_to_all);
}

}  // namespace weft::jobs
