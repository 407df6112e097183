#include "platform/store/room.h"

#include <algorithm>

namespace weft::store {

void Room::Taken::add(const Taken& more) {
  bytes += more.bytes;
  from_job.results += more.from_job.results;
  from_job.of_known += more.from_job.of_known;
  from_job.join += more.from_job.join;
  from_job.states += more.from_job.states;
}

Room::Needs Room::State::left_for(std::uint64_t bytes, const std::optional<For>& wanted) const {
  const auto found = wanted ? jobs.find(wanted->job) : jobs.end();
  if (found == jobs.end()) return {};
  const Job& job = found->second;
  const Needs& left = job.left;
  if (wanted->part == Part::other) return {};
  if (wanted->part == Part::join) return {.join = std::min(left.join, bytes)};
  if (wanted->part == Part::states) return {.states = std::min(left.states, bytes)};
  Needs out{.results = std::min(left.results, bytes)};
  if (wanted->stranger) {
    const auto taken = job.by_network.find(job.network_of(*wanted->stranger));
    const std::uint64_t already = taken == job.by_network.end() ? 0 : taken->second;
    out.results = std::min(out.results, job.network_max - std::min(job.network_max, already));
  }
  if (wanted->part == Part::of_known) out.of_known = std::min(left.of_known, bytes - out.results);
  return out;
}

const std::string& Room::Job::network_of(const Stranger& stranger) const {
  const auto found = by_worker.find(stranger.worker);
  return found == by_worker.end() ? stranger.network : found->second.network;
}

void Room::Job::count(const Stranger& stranger, std::uint64_t bytes) {
  if (bytes == 0) return;
  Unaccepted& its = by_worker.try_emplace(stranger.worker, stranger.network, 0).first->second;
  its.bytes += bytes;
  by_network[its.network] += bytes;
}

void Room::Job::uncount(const PublicKey& worker, std::uint64_t bytes) {
  const auto found = by_worker.find(worker);
  if (found == by_worker.end()) return;
  const std::uint64_t less = std::min(bytes, found->second.bytes);
  found->second.bytes -= less;
  by_network[found->second.network] -= less;
}

std::uint64_t Room::State::free(std::uint64_t bytes_max) const {
  const std::uint64_t taken = used + aside;
  return bytes_max - std::min(bytes_max, taken);
}

TokenBucket::Rate Room::rate_of(double share) const {
  const double bytes = static_cast<double>(bytes_max_) * share;
  return {.per_second = bytes / 3600, .burst = bytes};
}

bool Room::take_free(State& state, const std::string& network, std::uint64_t bytes) {
  const Instant at = clock_();
  const auto all = rate_of(shares_.strangers), one = rate_of(shares_.network);
  auto its = state.networks.find(network);
  if (its == state.networks.end() && state.networks.size() >= networks_max) {
    std::erase_if(state.networks, [&](auto& other) {
      other.second.refill(one, at);
      return other.second.full(one);
    });
  }
  if (its == state.networks.end())
    its = state.networks.try_emplace(state.networks.size() < networks_max ? network : "").first;
  state.strangers.refill(all, at);
  its->second.refill(one, at);
  const auto wanted = static_cast<double>(bytes);
  if (shares_.strangers < 1 && state.strangers.level() < wanted) return false;
  if (shares_.network < 1 && its->second.level() < wanted) return false;
  state.strangers.spend(all, wanted);
  its->second.spend(one, wanted);
  return true;
}

Result<> Room::set_aside(const JobId& job, const Needs& needs, std::uint64_t network_max) {
  return state_.with([&](State& state) -> Result<> {
    const std::uint64_t left = state.free(bytes_max_);
    if (needs.total() > left) {
      return fail(
          needs.total() > bytes_max_ ? ErrorCode::resource_exhausted : ErrorCode::unavailable,
          "The job's results take {} bytes, and {} of the store's {} are left: try again "
          "when data of other jobs have gone, or have the operator raise "
          "--blobs-bytes-max.",
          needs.total(), left, bytes_max_);
    }
    if (state.jobs.try_emplace(job, needs, network_max).second) state.aside += needs.total();
    return {};
  });
}

void Room::restore(const JobId& job, const Needs& needs, std::uint64_t network_max) {
  state_.with([&](State& state) {
    if (state.jobs.try_emplace(job, needs, network_max).second) state.aside += needs.total();
  });
}

void Room::end(const JobId& job) {
  state_.with([&](State& state) {
    const auto found = state.jobs.find(job);
    if (found == state.jobs.end()) return;
    state.aside -= found->second.left.total();
    state.jobs.erase(found);
  });
}

Result<Room::Taken> Room::take(std::uint64_t bytes, const std::optional<For>& wanted) {
  return state_.with([&](State& state) -> Result<Taken> {
    const Needs from_job = state.left_for(bytes, wanted);
    const std::uint64_t from_free = bytes - from_job.total();
    if (from_free > state.free(bytes_max_)) {
      return fail(ErrorCode::resource_exhausted,
                  "The blobs would take more than {} bytes, of which {} are set aside for results "
                  "of running jobs; --blobs-bytes-max raises the bound.",
                  bytes_max_, state.aside);
    }
    const bool is_stranger = wanted && wanted->stranger;
    if (is_stranger && from_free > 0 && !take_free(state, wanted->stranger->network, from_free)) {
      return fail(ErrorCode::resource_exhausted,
                  "Workers of one network that are neither invited nor established store at most "
                  "{:.0f} bytes within an hour beyond their share of a job's room, and all such "
                  "workers {:.0f} (parts of --blobs-bytes-max); try again later.",
                  rate_of(shares_.network).burst, rate_of(shares_.strangers).burst);
    }
    if (from_job.total() > 0) {
      Job& job = state.jobs.at(wanted->job);
      job.left.results -= from_job.results;
      job.left.of_known -= from_job.of_known;
      job.left.join -= from_job.join;
      job.left.states -= from_job.states;
      if (is_stranger) job.count(*wanted->stranger, from_job.results);
    }
    state.aside -= from_job.total();
    state.used += bytes;
    return Taken{.bytes = bytes, .from_job = from_job};
  });
}

void Room::give_back(const Taken& taken, const std::optional<For>& wanted) {
  state_.with([&](State& state) {
    state.used -= taken.bytes;
    const auto found = wanted ? state.jobs.find(wanted->job) : state.jobs.end();
    if (found == state.jobs.end()) return;
    Job& job = found->second;
    job.left.results += taken.from_job.results;
    job.left.of_known += taken.from_job.of_known;
    job.left.join += taken.from_job.join;
    job.left.states += taken.from_job.states;
    if (wanted->stranger) job.uncount(wanted->stranger->worker, taken.from_job.results);
    state.aside += taken.from_job.total();
  });
}

void Room::accepted(const JobId& job, const PublicKey& worker, std::uint64_t bytes) {
  state_.with([&](State& state) {
    if (const auto found = state.jobs.find(job); found != state.jobs.end())
      found->second.uncount(worker, bytes);
  });
}

void Room::states_removed(const JobId& job, std::uint64_t bytes) {
  state_.with([&](State& state) {
    const auto found = state.jobs.find(job);
    if (found == state.jobs.end()) return;
    Job& its = found->second;
    const std::uint64_t again = std::min(bytes, its.states_max - its.left.states);
    its.left.states += again;
    state.aside += again;
  });
}

void Room::add_used(std::uint64_t bytes) {
  state_.with([&](State& state) { state.used += bytes; });
}
void Room::remove_used(std::uint64_t bytes) {
  state_.with([&](State& state) { state.used -= std::min(state.used, bytes); });
}

std::uint64_t Room::used() const {
  return state_.with([](const State& state) { return state.used; });
}
std::uint64_t Room::aside() const {
  return state_.with([](const State& state) { return state.aside; });
}

}  // namespace weft::store
