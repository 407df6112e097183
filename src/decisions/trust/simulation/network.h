// Many jobs on a network of which a part is dishonest, from one seed. Each turn one worker does one
// thing: a wanted audit, a wanted replica, or a new task (and now and then a trap). The referee
// decides, the ledger moves the money; what comes out is counted against the truth, which the
// simulation knows.
#pragma once

#include <array>
#include <cstdint>

#include "decisions/trust/referee.h"
#include "decisions/trust/simulation/behaviour.h"

namespace weft::trust::simulation {

struct Options {
  std::uint64_t seed = 1;
  std::uint32_t workers = 200;
  std::uint32_t tasks = 400'000;
  std::uint32_t job_tasks = 2'000;
  // Shares of all workers; the rest is honest.
  std::array<double, kind_names.size()> shares{0, 0.03, 0.04, 0.03, 0.3, 0};
  UnixMillis turn =
      15LL * 60 *
      1000;  // How long a worker takes for one thing: 400,000 tasks last for five weeks.
  MicroCredits value = 1000;  // Value of a task.
  double stake = 200;         // That each worker deposits, in values.
  std::uint32_t replicas = 2;
  std::uint32_t clients = 200;  // Whose jobs take turns.
  bool verifier = true;         // The coordinator's verifier does the audits; otherwise workers do.
  RefereeSettings referee{};

  // Workers count by heads, as before there were levels (levels.h): juries of 11 decide, and
  // workers audit each other.
  [[nodiscard]] Options without_levels() const;
};

struct KindResult {
  std::uint32_t workers = 0;
  std::uint32_t convicted = 0;  // Workers, each once.
  std::uint64_t cheats = 0;     // Wrong answers handed in.
  std::uint64_t accepted = 0;   // Cheats that were accepted and paid.
  MicroCredits gained = 0;      // Pay for wrong answers.
  MicroCredits slashed = 0;
  // What a cheat came to on average, in values of a task.
  [[nodiscard]] double per_cheat(MicroCredits value) const;
};

struct Outcome {
  std::uint64_t tasks = 0;           // Accepted.
  std::uint64_t wrong_accepted = 0;  // Accepted tasks whose wrong answer was not found out.
  double extra_work_cold =
      0;  // Work beyond one run of each task over the first half of the tasks, relative to it;
  double extra_work_warm = 0;  // over the second half.
  double extra_replicas = 0;   // Parts of extra_work_warm.
  double extra_audits = 0;
  double extra_traps = 0;
  std::uint64_t failed_jobs = 0;
  std::uint64_t undecided = 0;  // Tasks that were handed in and not accepted at the end.
  std::array<KindResult, kind_names.size()> kinds{};  // By Kind.
  MicroCredits ledger_sum = 0;

  [[nodiscard]] double wrong_share() const {
    return tasks == 0 ? 0 : static_cast<double>(wrong_accepted) / static_cast<double>(tasks);
  }
};

[[nodiscard]] Outcome run(const Options& options);

}  // namespace weft::trust::simulation
