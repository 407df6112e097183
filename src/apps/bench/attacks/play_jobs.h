// The jobs of a play: as many of honest clients at a time as the scene says, and the attackers' own
// beside them. What is refused for now is sent again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "apps/bench/attacks/play_context.h"
#include "apps/bench/attacks/signed_asking.h"

namespace weft::coordinator::bench {

class PlayJobs {
 public:
  struct Job {
    bool own = false;  // An attacker's.
    std::size_t client = 0;
  };

  PlayJobs(PlayContext& context, SignedAsking& asking) : context_(context), asking_(asking) {}
  PlayJobs(const PlayJobs&) = delete;

  void submit_more();
  // Looks at the jobs that are open, unless answers to the last look are still to come, and sends
  // again what was refused.
  void look();
  // All tasks of honest clients are submitted, and their jobs have ended.
  [[nodiscard]] bool all_ended() const;
  // Null: its client does not know of it yet.
  [[nodiscard]] const Job* find(const JobId& id) const;

 private:
  struct Submission {
    bool own = false;
    std::size_t client = 0;
    std::string body;
  };
  void submit(bool own);
  void post(Submission wanted);
  void look_at_open();

  PlayContext& context_;
  SignedAsking& asking_;
  std::unordered_map<JobId, Job> jobs_;
  std::vector<Submission> refused_;  // For now: they are sent again.
  std::set<JobId> open_;             // Those of honest clients.
  std::uint32_t submitted_ = 0;      // Tasks of honest clients.
  std::uint32_t submitting_ = 0;
  std::uint32_t numbers_ = 0;
  std::uint32_t honest_started_ = 0;
  std::uint32_t own_started_ = 0;
  std::size_t looking_ = 0;  // Answers that are still to come.
};

}  // namespace weft::coordinator::bench
