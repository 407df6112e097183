// When workers come and go, as the scheduler has learned it, outlives the process.
#include <bit>

#include "apps/coordinator/core_state.h"
#include "common/base/log.h"

namespace weft::coordinator {
namespace {

using scheduler::Presence;
using Hours = std::array<Presence::Hour, Presence::hours>;

constexpr std::string_view prefix = "presence:";
constexpr std::size_t hour_bytes = 12;
constexpr auto store_every = std::chrono::hours(1);  // Of those who are here; the others when they leave.

ByteVector pack(const Hours& seen) {
  ByteVector bytes;
  for (const Presence::Hour& hour : seen) {
    append_le(bytes, std::bit_cast<std::uint32_t>(hour.present_seconds));
    append_le(bytes, std::bit_cast<std::uint32_t>(hour.departures));
    append_le(bytes, static_cast<std::uint32_t>(hour.day));
  }
  return bytes;
}

std::optional<Hours> unpack(ByteSpan bytes) {
  if (bytes.size() != Presence::hours * hour_bytes) return {};
  Hours seen;
  const auto word = [&](std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value |= static_cast<std::uint32_t>(bytes[at + i]) << (8 * i);
    return value;
  };
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const std::size_t at = i * hour_bytes;
    seen[i] = {.present_seconds = std::bit_cast<float>(word(at)), .departures = std::bit_cast<float>(word(at + 4)), .day = static_cast<std::int32_t>(word(at + 8))};
  }
  return seen;
}

}  // namespace

void Core::State::restore_presence(std::span<const store::Setting> rows) {
  for (const auto& row : rows) {
    if (!row.name.starts_with(prefix)) continue;
    const auto key = PublicKey::parse(row.name.substr(prefix.size()));
    const auto seen = unpack(row.value);
    if (key && seen) {
      scheduler.restore_presence(*key, *seen);
    } else {
      log_warning("The stored setting {} is no history of a worker.", row.name);
    }
  }
}

void Core::State::store_presence(Moment now) {
  const auto store = [&](const PublicKey& key) {
    const Presence* const known = scheduler.presence(key);
    if (known != nullptr) batch.settings.push_back({.name = std::string(prefix) + key.text(), .value = pack(known->seen())});
  };
  for (const PublicKey& key : scheduler.take_forgotten()) batch.dropped_settings.push_back(std::string(prefix) + key.text());
  for (const PublicKey& key : scheduler.take_moved()) store(key);
  if (!presence_stored) presence_stored = now.at;
  if (now.at - *presence_stored < store_every) return;
  presence_stored = now.at;
  for (const auto& [key, worker] : workers) {
    (void)scheduler.stays(key, 0, now.at);  // Counts until now.
    store(key);
  }
}

}  // namespace weft::coordinator
