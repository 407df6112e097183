#include "platform/store/room.h"

#include <algorithm>

namespace weft::store {

std::uint64_t* Room::State::left_of(const For& wanted) {
  const auto found = jobs.find(wanted.job);
  if (found == jobs.end()) return nullptr;
  return wanted.part == Part::join ? &found->second.join : &found->second.results;
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
    std::uint64_t* const left = wanted ? state.left_of(*wanted) : nullptr;
    const std::uint64_t from_job = left == nullptr ? 0 : std::min(*left, bytes);
    if (bytes - from_job > state.free(bytes_max_)) {
      return fail(ErrorCode::resource_exhausted,
                  "The blobs would take more than {} bytes, of which {} are set aside for results "
                  "of running jobs; --blobs-bytes-max raises the bound.",
                  bytes_max_, state.aside);
    }
    if (left != nullptr) *left -= from_job;
    state.aside -= from_job;
    state.used += bytes;
    return Taken{.bytes = bytes, .from_job = from_job};
  });
}

void Room::give_back(const Taken& taken, const std::optional<For>& wanted) {
  state_.with([&](State& state) {
    state.used -= taken.bytes;
    std::uint64_t* const left = wanted ? state.left_of(*wanted) : nullptr;
    if (left == nullptr) return;
    *left += taken.from_job;
    state.aside += taken.from_job;
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
