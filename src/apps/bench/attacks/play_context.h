// The state that the parts of a play share: the players, the connections, the time, and the
// observations. The first error ends the play.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "apps/bench/attacks/cast.h"
#include "apps/bench/attacks/play_types.h"
#include "apps/bench/coordinator/wire.h"
#include "common/base/clock.h"
#include "common/base/result.h"
#include "decisions/trust/attacks/strategy.h"

namespace weft::coordinator::bench {

[[nodiscard]] inline Duration as_duration(double seconds) {
  return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

struct PlayContext {
  PlayContext(PlayOptions its_options, Cast its_cast)
      : options(std::move(its_options)),
        cast(std::move(its_cast)),
        strategy(options.strategy == nullptr ? nullptr : options.strategy->make(options.plan)),
        random(options.scene.seed * 0x9e3779b97f4a7c15U + 1) {}

  void fail_with(Error error) { broken = std::move(error); }
  // Hours of the scene since the play began. The scene's tasks take longer than the play's, so its
  // time runs faster in proportion.
  [[nodiscard]] double hours() const {
    return seconds(now() - start) * options.scene.task_seconds / options.task_seconds / 3600;
  }

  const PlayOptions options;
  Cast cast;
  const std::unique_ptr<trust::attacks::Strategy> strategy;  // Null: all workers are honest.
  trust::attacks::Random random;
  std::unique_ptr<Wire> wire;
  PublicKey coordinator;  // The coordinator's key, known after the first challenge.
  Instant start{};
  std::optional<Error> broken;
  Played played;
};

}  // namespace weft::coordinator::bench
