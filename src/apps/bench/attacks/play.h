// One strategy against a real coordinator: workers hold WebSockets and follow the whole protocol,
// clients submit signed jobs; an attacker does with each lease what its strategy says. All in one
// thread, as Crowd does it. What the workers compute is cheap and takes the time that their rates
// say, so that speed and price mean something.
//
// Its parts: SignedAsking (HTTP), PlayJobs, PlayWorkers (with PlayAnswers), StandingLooks, over one
// PlayContext. This is when they have their turn.
//
// Threading: one.
#pragma once

#include "apps/bench/attacks/play_context.h"
#include "apps/bench/attacks/play_jobs.h"
#include "apps/bench/attacks/play_types.h"
#include "apps/bench/attacks/play_workers.h"
#include "apps/bench/attacks/signed_asking.h"
#include "apps/bench/attacks/standing_looks.h"

namespace weft::coordinator::bench {

class Play {
 public:
  // Takes the cast over. unavailable if the coordinator does not answer.
  [[nodiscard]] static Result<Played> run(PlayOptions options, Cast cast);
  Play(const Play&) = delete;

 private:
  Play(PlayOptions options, Cast cast);
  [[nodiscard]] Result<Played> run();
  [[nodiscard]] Wire::Handlers handlers();
  [[nodiscard]] Result<> connect();
  void turn();
  // Until what a conviction makes the verifier compute again is done.
  void await_corrections();

  PlayContext context_;
  SignedAsking asking_{context_};
  PlayJobs jobs_{context_, asking_};
  PlayWorkers workers_;
  StandingLooks standings_{context_, asking_, workers_};
  Instant looked_{};
  Instant beaten_{};
  Instant standings_looked_{};
};

}  // namespace weft::coordinator::bench
