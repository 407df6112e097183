// The jobs of a play: as many jobs of honest clients at a time as the scene says, and the
// attackers' own jobs. Submissions that are refused for the moment are sent again.
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
    bool own = false;  // The client is an attacker.
    std::size_t client = 0;
  };

  PlayJobs(PlayContext& context, SignedAsking& asking) : context_(context), asking_(asking) {}
  PlayJobs(const PlayJobs&) = delete;

  void submit_more();
  // Polls the open jobs, unless replies to the last poll are missing, and sends refused submissions
  // again.
  void look();
  // True if all tasks of honest clients were submitted and their jobs have ended.
  [[nodiscard]] bool all_ended() const;
  // The job with this id; null if its client has no reply for it yet.
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
  std::vector<Submission> refused_;  // Refused submissions to send again.
  std::set<JobId> open_;             // Open jobs of honest clients.
  std::uint32_t submitted_ = 0;      // Submitted tasks of honest clients.
  std::uint32_t submitting_ = 0;
  std::uint32_t numbers_ = 0;
  std::uint32_t honest_started_ = 0;
  std::uint32_t own_started_ = 0;
  std::size_t looking_ = 0;  // Replies that the last poll still lacks.
};

}  // namespace weft::coordinator::bench
