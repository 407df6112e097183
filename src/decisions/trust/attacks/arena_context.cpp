#include "decisions/trust/attacks/arena_context.h"

#include <chrono>
#include <cstring>

namespace weft::trust::attacks {
namespace {

constexpr UnixMillis unix_start = 1'700'000'000'000;

Secret secret_of(std::uint64_t seed) {
  Secret secret;
  std::memcpy(secret.bytes.data(), &seed, sizeof seed);
  return secret;
}

scheduler::Settings scheduler_settings(const Scene& setup) {
  scheduler::Settings settings;
  settings.beat = std::chrono::hours(24 * 365);  // Simulated workers send no heartbeats.
  settings.checkpoint_min = std::chrono::milliseconds(0);
  settings.leaving_risk_max = 1;
  settings.safeguards = setup.safeguards;
  return settings;
}

}  // namespace

ArenaContext::ArenaContext(const Scene& scene, const Entry* entry, const Plan& attack)
    : setup(scene),
      plan(attack),
      strategy(entry == nullptr ? nullptr : entry->make(attack)),
      random(scene.seed * 0x9e3779b97f4a7c15U + 1),
      scheduler(scheduler_settings(scene)),
      secret(secret_of(scene.seed)),
      referee(scene.referee, secret) {
  referee.standing().set_root_at_hand([&scene] { return scene.verifier; });
}

UnixMillis ArenaContext::unix() const {
  return unix_start + static_cast<UnixMillis>(time() * 1000);
}

Instant ArenaContext::instant(double seconds) {
  return Instant(
      std::chrono::duration_cast<Duration>(std::chrono::duration<double>(1000 + seconds)));
}

double ArenaContext::credits(double prices) const { return prices * setup.task_seconds * 1e6; }

}  // namespace weft::trust::attacks
