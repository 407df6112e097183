#include "decisions/scheduler/worker_histories.h"

#include <utility>

#include "common/base/check.h"

namespace weft::scheduler {

void WorkerHistories::set_clock(Instant now, UnixMillis unix) {
  clock_at_ = now;
  clock_unix_ = unix;
}

UnixMillis WorkerHistories::unix_at(Instant now) const {
  return clock_unix_ +
         std::chrono::duration_cast<std::chrono::milliseconds>(now - clock_at_).count();
}

Presence& WorkerHistories::arrives(const PublicKey& worker, bool trusted, Instant now) {
  History& history = histories_[worker];
  departed_.erase(std::exchange(history.departure, 0));
  history.trusted = trusted;
  history.presence.arrived(unix_at(now));
  return history.presence;
}

void WorkerHistories::departs(const PublicKey& worker, Instant now) {
  const auto found = histories_.find(worker);
  check(found != histories_.end() && found->second.departure == 0,
        "a worker departs after it has arrived");
  found->second.presence.left(unix_at(now));
  found->second.departure = next_departure_++;
  departed_[found->second.departure] = worker;
  moved_.push_back(worker);
  while (departed_.size() > departed_max_) {
    const auto oldest = departed_.begin();
    forgotten_.push_back(oldest->second);
    histories_.erase(oldest->second);
    departed_.erase(oldest);
  }
}

void WorkerHistories::set_trusted(const PublicKey& worker, bool trusted) {
  if (const auto found = histories_.find(worker); found != histories_.end())
    found->second.trusted = trusted;
}

bool WorkerHistories::trusted(const PublicKey& worker) const {
  const auto found = histories_.find(worker);
  return found != histories_.end() && found->second.trusted;
}

const Presence* WorkerHistories::presence(const PublicKey& worker) const {
  const auto found = histories_.find(worker);
  return found == histories_.end() ? nullptr : &found->second.presence;
}

void WorkerHistories::restore(const PublicKey& worker,
                              const std::array<Presence::Hour, Presence::hours>& seen) {
  const auto [known, is_new] = histories_.try_emplace(worker);
  if (!is_new) return;
  known->second.presence.restore(seen);
  known->second.departure = next_departure_++;
  departed_[known->second.departure] = worker;
}

void WorkerHistories::forget(const PublicKey& worker) {
  const auto found = histories_.find(worker);
  if (found == histories_.end() || found->second.departure == 0) return;
  departed_.erase(found->second.departure);
  histories_.erase(found);
  forgotten_.push_back(worker);
}

std::vector<PublicKey> WorkerHistories::take_moved() { return std::exchange(moved_, {}); }
std::vector<PublicKey> WorkerHistories::take_forgotten() { return std::exchange(forgotten_, {}); }

}  // namespace weft::scheduler
