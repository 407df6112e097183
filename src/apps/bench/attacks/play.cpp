#include "apps/bench/attacks/play.h"

#include <utility>

#include "common/base/clock.h"

namespace weft::coordinator::bench {
namespace {

constexpr std::size_t handshakes_at_a_time = 256;
constexpr auto handshakes_max = std::chrono::seconds(60);
constexpr auto turn_max = std::chrono::milliseconds(2);
constexpr auto look_every = std::chrono::milliseconds(50);  // Interval of polling jobs.
constexpr auto beat_every = std::chrono::milliseconds(800);
constexpr auto standings_every = std::chrono::milliseconds(100);
// Longest wait for the recomputation of a convicted worker's tasks.
constexpr auto corrections_max = std::chrono::seconds(20);

}  // namespace

Play::Play(PlayOptions options, Cast cast)
    : context_(std::move(options), std::move(cast)),
      workers_(context_, jobs_, [this](Wire::Id id) { standings_.look_at(id); }) {}

Result<Played> Play::run(PlayOptions options, Cast cast) {
  Play play(std::move(options), std::move(cast));
  return play.run();
}

Wire::Handlers Play::handlers() {
  return {.answered = [this](Wire::Id id, int status,
                             std::string_view body) { asking_.answered(id, status, body); },
          .opened = [this](Wire::Id id) { workers_.opened(id); },
          .text = [this](Wire::Id id, std::string_view text) { workers_.hear(id, text); },
          .closed =
              [this](Wire::Id id) {
                if (workers_.has(id)) return workers_.closed(id);
                asking_.closed(id);
              }};
}

Result<> Play::connect() {
  WEFT_ASSIGN(context_.wire, Wire::create(context_.options.port, handlers()));
  const Instant give_up = now() + handshakes_max;
  const std::size_t wanted = context_.cast.workers.size();
  while (workers_.welcome() < wanted) {
    while (workers_.count() < wanted &&
           workers_.count() < workers_.welcome() + handshakes_at_a_time)
      WEFT_OK(workers_.join(workers_.count()));
    context_.wire->poll(turn_max);
    if (context_.broken) return std::unexpected(*context_.broken);
    if (now() > give_up)
      return fail(ErrorCode::deadline_exceeded,
                  "Only {} of {} workers have joined the coordinator in time.", workers_.welcome(),
                  wanted);
  }
  return {};
}

void Play::turn() {
  context_.wire->poll(turn_max);
  const Instant moment = now();
  workers_.deliver_due(moment);
  if (moment > looked_ + look_every) {
    looked_ = now();
    jobs_.look();
  }
  if (context_.strategy && moment > standings_looked_ + standings_every) {
    standings_looked_ = now();
    standings_.look_at_next();
  }
  if (moment < beaten_ + beat_every) return;
  beaten_ = moment;
  workers_.beat();
}

Result<Played> Play::run() {
  WEFT_OK(connect());
  const PlayOptions& options = context_.options;
  context_.start = beaten_ = looked_ = standings_looked_ = now();
  const Instant give_up = context_.start + as_duration(options.seconds_max);
  while (!context_.broken) {
    jobs_.submit_more();
    if (jobs_.all_ended()) break;
    if (now() > give_up) {
      context_.played.ended = false;
      break;
    }
    if (options.stop && options.stop()) return fail(ErrorCode::cancelled, "Interrupted.");
    turn();
  }
  context_.played.seconds = seconds(now() - context_.start);
  await_corrections();
  if (context_.broken) return std::unexpected(*context_.broken);
  context_.played.workers = std::move(context_.cast.workers);
  return std::move(context_.played);
}

void Play::await_corrections() {
  bool correcting = context_.played.cheats > 0;
  bool asking = false;
  const Instant corrected = now() + corrections_max;
  Instant asked_at{};
  while (correcting && !context_.broken && now() < corrected) {
    if (!asking && now() > asked_at + std::chrono::milliseconds(500)) {
      asking = true;
      asked_at = now();
      asking_.ask(context_.cast.clients.front(), "GET", "/metrics", "",
                  [&](int status, std::string_view body) {
                    asking = false;
                    if (status == 200)
                      correcting =
                          body.find("\nweft_rechecks_running 0\n") == std::string_view::npos;
                  });
    }
    turn();
  }
  while (asking && !context_.broken && now() < corrected + std::chrono::seconds(1)) turn();
}

}  // namespace weft::coordinator::bench
