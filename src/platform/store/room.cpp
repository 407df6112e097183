#include "platform/store/room.h"

#include <algorithm>

namespace weft::store {

void Room::Taken::add(const Taken& more) {
  bytes += more.bytes;
  from_job.results += more.from_job.results;
  from_job.of_known += more.from_job.of_known;
  from_job.join += more.from_job.join;
}

Room::Needs Room::State::left_for(std::uint64_t bytes, const std::optional<For>& wanted) const {
  const auto found = wanted ? jobs.find(wanted->job) : jobs.end();
  if (found == jobs.end()) return {};
  const Needs& left = found->second;
  if (wanted->part == Part::join) return {.join = std::min(left.join, bytes)};
  Needs out{.results = std::min(left.results, bytes)};
  if (wanted->part == Part::of_known) out.of_known = std::min(left.of_known, bytes - out.results);
  return out;
}

std::uint64_t Room::State::free(std::uint64_t bytes_max) const {
  const std::uint64_t taken = used + aside;
  return bytes_max - std::min(bytes_max, taken);
}

Result<> Room::set_aside(const JobId& job, const Needs& needs) {
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
    if (state.jobs.try_emplace(job, needs).second) state.aside += needs.total();
    return {};
  });
}

void Room::restore(const JobId& job, const Needs& needs) {
  state_.with([&](State& state) {
    if (state.jobs.try_emplace(job, needs).second) state.aside += needs.total();
  });
}

void Room::end(const JobId& job) {
  state_.with([&](State& state) {
    const auto found = state.jobs.find(job);
    if (found == state.jobs.end()) return;
    state.aside -= found->second.total();
    state.jobs.erase(found);
  });
}

Result<Room::Taken> Room::take(std::uint64_t bytes, const std::optional<For>& wanted) {
  return state_.with([&](State& state) -> Result<Taken> {
    const Needs from_job = state.left_for(bytes, wanted);
    if (bytes - from_job.total() > state.free(bytes_max_)) {
      return fail(ErrorCode::resource_exhausted,
                  "The blobs would take more than {} bytes, of which {} are set aside for results "
                  "of running jobs; --blobs-bytes-max raises the bound.",
                  bytes_max_, state.aside);
    }
    if (from_job.total() > 0) {
      Needs& left = state.jobs.at(wanted->job);
      left.results -= from_job.results;
      left.of_known -= from_job.of_known;
      left.join -= from_job.join;
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
    found->second.results += taken.from_job.results;
    found->second.of_known += taken.from_job.of_known;
    found->second.join += taken.from_job.join;
    state.aside += taken.from_job.total();
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
