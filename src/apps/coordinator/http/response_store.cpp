#include "apps/coordinator/http/response_store.h"

#include <algorithm>

namespace weft::coordinator {

namespace {

constexpr std::size_t overhead_bytes = 512;  // Memory of the maps for each response.

std::size_t bytes_of(const StoredResponse& response) {
  return response.document.size() + response.messages.size() + response.owner.size() +
         overhead_bytes;
}

std::unexpected<Error> not_stored(const std::string& id) {
  return fail(ErrorCode::not_found, "The response '{}' is not stored here.", id);
}

// Erases the entry of `map` that has this time and id.
void erase_one(std::multimap<Instant, std::string>& map, Instant at, const std::string& id) {
  const auto [begin, end] = map.equal_range(at);
  const auto found =
      std::find_if(begin, end, [&](const auto& entry) { return entry.second == id; });
  if (found != end) map.erase(found);
}

}  // namespace

void ResponseStore::erase(State& state, const std::string& id) {
  auto node = state.responses.extract(id);
  if (node.empty()) return;
  const StoredResponse& response = *node.mapped();
  const std::size_t bytes = bytes_of(response);
  state.bytes -= bytes;
  erase_one(state.ends, response.until, id);
  const auto owner = state.owners.find(response.owner);
  owner->second.bytes -= bytes;
  erase_one(owner->second.ids, response.until, id);
  if (owner->second.ids.empty()) state.owners.erase(owner);
}

void ResponseStore::expire(State& state, Instant now) {
  while (!state.ends.empty() && state.ends.begin()->first <= now)
    erase(state, std::string(state.ends.begin()->second));
}

Result<> ResponseStore::put(const std::string& id, StoredResponse response, Instant now) {
  return state_.with([&](State& state) -> Result<> {
    expire(state, now);
    const std::size_t bytes = bytes_of(response);
    const std::string key = response.owner;
    if (bytes > options_.owner_bytes_max)
      return fail(ErrorCode::resource_exhausted,
                  "The response has {} bytes; at most {} are stored for a client.", bytes,
                  options_.owner_bytes_max);
    // An owner that exceeds its share loses its own oldest responses.
    for (auto owner = state.owners.find(key);
         owner != state.owners.end() && (owner->second.bytes + bytes > options_.owner_bytes_max ||
                                         owner->second.ids.size() >= options_.owner_count_max);
         owner = state.owners.find(key))
      erase(state, std::string(owner->second.ids.begin()->second));
    if (state.bytes + bytes > options_.bytes_max)
      return fail(ErrorCode::resource_exhausted,
                  "The response is not stored: the responses that are stored already have {} bytes "
                  "together.",
                  state.bytes);
    response.until = now + options_.keep;
    state.bytes += bytes;
    Owner& owner = state.owners[key];
    owner.bytes += bytes;
    owner.ids.emplace(response.until, id);
    state.ends.emplace(response.until, id);
    state.responses.emplace(id, std::make_shared<const StoredResponse>(std::move(response)));
    return {};
  });
}

Result<std::shared_ptr<const StoredResponse>> ResponseStore::find(const std::string& id,
                                                                  const std::string& owner,
                                                                  Instant now) {
  using Found = Result<std::shared_ptr<const StoredResponse>>;
  return state_.with([&](State& state) -> Found {
    expire(state, now);
    const auto found = state.responses.find(id);
    if (found == state.responses.end() || found->second->owner != owner) return not_stored(id);
    return found->second;
  });
}

Result<> ResponseStore::remove(const std::string& id, const std::string& owner, Instant now) {
  return state_.with([&](State& state) -> Result<> {
    expire(state, now);
    const auto found = state.responses.find(id);
    if (found == state.responses.end() || found->second->owner != owner) return not_stored(id);
    erase(state, id);
    return {};
  });
}

std::vector<std::shared_ptr<const StoredResponse>> ResponseStore::of(const std::string& owner,
                                                                     Instant now) {
  return state_.with([&](State& state) {
    expire(state, now);
    std::vector<std::shared_ptr<const StoredResponse>> all;
    const auto found = state.owners.find(owner);
    if (found == state.owners.end()) return all;
    for (const auto& [until, id] : found->second.ids) all.push_back(state.responses.at(id));
    return all;
  });
}

void ResponseStore::remove_of(const std::string& owner) {
  state_.with([&](State& state) {
    for (auto found = state.owners.find(owner); found != state.owners.end();
         found = state.owners.find(owner))
      erase(state, std::string(found->second.ids.begin()->second));
  });
}

}  // namespace weft::coordinator
