// Plays one strategy against a real coordinator. Workers hold WebSockets and follow the whole
// protocol, clients submit signed jobs, and an attacker treats each lease as its strategy says.
// Everything runs on one thread, as in Crowd. The workers' computations are cheap, but take the
// time that their rates give them, so that speed and price are realistic.
//
// The parts are SignedAsking (HTTP), PlayJobs, PlayWorkers (with PlayAnswers) and StandingLooks,
// which share a PlayContext. This class calls them in turn.
//
// Threading: one thread.
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
  // Plays with `cast`. Fails with unavailable if the coordinator does not answer.
  [[nodiscard]] static Result<Played> run(PlayOptions options, Cast cast);
  Play(const Play&) = delete;

 private:
  Play(PlayOptions options, Cast cast);
  [[nodiscard]] Result<Played> run();
  [[nodiscard]] Wire::Handlers handlers();
  [[nodiscard]] Result<> connect();
  void turn();
  // Waits until the verifier has recomputed the tasks of convicted workers.
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
