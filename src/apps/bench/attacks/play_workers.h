// The workers of a play. Each one holds a WebSocket and follows the whole protocol. An attacker
// treats each lease as its strategy says, and may come back with another wallet.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <queue>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "apps/bench/attacks/answers.h"
#include "apps/bench/attacks/play_answers.h"
#include "apps/bench/attacks/play_context.h"
#include "apps/bench/attacks/play_jobs.h"
#include "apps/bench/attacks/standing.h"
#include "apps/bench/coordinator/talk.h"

namespace weft::coordinator::bench {

class PlayWorkers {
 public:
  // `look` is called if an attacker wants to know its standing.
  PlayWorkers(PlayContext& context, const PlayJobs& jobs, std::function<void(Wire::Id)> look)
      : context_(context), jobs_(jobs), look_(std::move(look)), answers_(context) {}
  PlayWorkers(const PlayWorkers&) = delete;

  // Connects the worker with this index in the cast.
  [[nodiscard]] Result<> join(std::size_t player);
  [[nodiscard]] std::size_t count() const { return workers_.size(); }
  [[nodiscard]] std::size_t welcome() const { return welcome_; }
  // Delivers the results whose computing time has passed.
  void deliver_due(Instant moment);
  void beat();

  [[nodiscard]] const std::vector<Wire::Id>& attackers() const { return attackers_; }
  [[nodiscard]] const Player& player(Wire::Id id) const { return player(workers_.at(id)); }
  // True if the worker is welcome and has not left.
  [[nodiscard]] bool is_here(Wire::Id id) const;
  void set_standing(Wire::Id id, const ShownStanding& shown);

  // The functions below handle events of the workers' connections (Wire).
  [[nodiscard]] bool has(Wire::Id id) const { return workers_.contains(id); }
  void opened(Wire::Id id);
  void hear(Wire::Id id, std::string_view text);
  void closed(Wire::Id id);

 private:
  struct Task {
    Asked asked;
    std::uint32_t attempt = 0;
  };
  struct Worker {
    std::size_t player = 0;
    protocol::Challenge challenge{};
    bool welcome = false;
    bool gone = false;
    std::deque<Task> queue;
    std::optional<Task> running;
    Instant ends{};  // End of the running task's computing time.
    trust::attacks::Deed deed;
    bool established = false;
    double reputation = 0;
    std::uint32_t refused = 0;
    std::unordered_map<TaskId, double> wrong;  // Share of wrong slices in each delivered result.
    std::unordered_map<TaskId, ByteVector> handed;
  };
  struct Due {
    Instant at;
    Wire::Id worker = 0;
    std::uint64_t serial = 0;
    friend bool operator<(const Due& a, const Due& b) {
      return a.at != b.at ? a.at > b.at : a.serial > b.serial;
    }
  };

  [[nodiscard]] const Player& player(const Worker& worker) const {
    return context_.cast.workers[worker.player];
  }
  void challenged(Wire::Id id, Worker& worker, const protocol::Challenge& challenge);
  void cancelled(Worker& worker, const protocol::Cancel& cancel);
  void begin(Wire::Id id, Worker& worker);
  void deliver(Wire::Id id, Worker& worker);
  void judged(Wire::Id id, Worker& worker, const protocol::Verdict& verdict);
  void open(Wire::Id id, Worker& worker, const protocol::OpenChunks& wanted);
  void replace(Wire::Id id);
  void later(Wire::Id worker, double seconds);

  PlayContext& context_;
  const PlayJobs& jobs_;
  const std::function<void(Wire::Id)> look_;
  PlayAnswers answers_;
  std::string invitation_;
  std::unordered_map<Wire::Id, Worker> workers_;
  std::vector<Wire::Id> attackers_;
  std::size_t welcome_ = 0;
  std::priority_queue<Due> due_;
  std::uint64_t serial_ = 0;
};

}  // namespace weft::coordinator::bench
