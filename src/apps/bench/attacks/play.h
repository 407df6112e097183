// One strategy against a real coordinator: workers hold WebSockets and follow the whole protocol,
// clients submit signed jobs; an attacker does with each lease what its strategy says. All in one
// thread, as Crowd does it. What the workers compute is cheap and takes the time that their rates
// say, so that speed and price mean something.
//
// Threading: one.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "apps/bench/attacks/answers.h"
#include "apps/bench/attacks/cast.h"
#include "apps/bench/coordinator/talk.h"
#include "apps/bench/coordinator/wire.h"
#include "decisions/trust/attacks/setup.h"
#include "decisions/trust/attacks/strategy.h"

namespace weft::coordinator::bench {

struct PlayOptions {
  std::uint16_t port = 0;
  trust::attacks::Scene scene;
  const trust::attacks::Entry* strategy = nullptr;  // Null: all are honest.
  trust::attacks::Plan plan;
  double task_seconds = 0.02;    // That a task takes a worker of rate 1.
  bool agreement_alone = false;  // The clients' jobs ask for agreement alone.
  double seconds_max = 60;       // What is not done then stays undecided.
  std::function<bool()> stop;    // Asked now and then; may be empty.
};

struct PlayedJob {
  JobId id;
  bool own = false;  // An attacker's.
};

// What the players saw. The rest is in the coordinator's folder.
struct Played {
  double seconds = 0;          // Until the last job of an honest client had ended.
  std::uint64_t cheats = 0;    // Wrong answers handed in to honest clients,
  std::set<TaskId> wrong;      // and tasks of theirs of which such an answer was accepted.
  MicroCredits gained = 0;     // Paid for the wrong share of these.
  MicroCredits paid = 0;       // To attackers, for everything.
  std::uint64_t replaced = 0;  // Wallets that attackers gave up.
  bool ended = true;           // All jobs of honest clients have.
  std::vector<PlayedJob> jobs;
  std::vector<Player> workers;  // All wallets that ever worked.
};

class Play {
 public:
  // Takes the cast over. unavailable if the coordinator does not answer.
  [[nodiscard]] static Result<Played> run(PlayOptions options, Cast cast);
  Play(const Play&) = delete;

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
    Instant ends{};  // When it will have computed that.
    trust::attacks::Deed deed;
    bool established = false;
    double reputation = 0;
    std::uint32_t refused = 0;
    std::unordered_map<TaskId, double> wrong;  // Shares of wrong slices that it handed in.
    std::unordered_map<TaskId, ByteVector> handed;
  };
  struct Job {
    bool own = false;
    std::size_t client = 0;
  };
  struct Submission {
    bool own = false;
    std::size_t client = 0;
    std::string body;
  };
  struct Due {
    Instant at;
    Wire::Id worker = 0;
    std::uint64_t serial = 0;
    friend bool operator<(const Due& a, const Due& b) {
      return a.at != b.at ? a.at > b.at : a.serial > b.serial;
    }
  };
  using Answer = std::function<void(int status, std::string_view body)>;

  Play(PlayOptions options, Cast cast);
  [[nodiscard]] Result<Played> run();
  [[nodiscard]] Result<> connect();
  [[nodiscard]] Result<> join(std::size_t player);
  void turn();
  // --- HTTP
  void ask(const crypto::KeyPair& wallet, std::string_view method, const std::string& path,
           const std::string& body, Answer answer);
  void submit_more();
  void submit(bool own);
  void post(Submission wanted);
  void look_at_jobs();
  void look_at_standing(Wire::Id id);
  void look_at_standings();
  // --- Workers
  void hear(Wire::Id id, std::string_view text);
  void begin(Wire::Id id, Worker& worker);
  void deliver(Wire::Id id, Worker& worker);
  void judged(Wire::Id id, Worker& worker, const protocol::Verdict& verdict);
  void open(Wire::Id id, Worker& worker, const protocol::OpenChunks& wanted);
  void replace(Wire::Id id);
  [[nodiscard]] ByteVector answer(const Worker& worker, const Task& task, const Job& job);
  void later(Wire::Id worker, double seconds);
  [[nodiscard]] const Player& player(const Worker& worker) const {
    return cast_.workers[worker.player];
  }
  [[nodiscard]] double hours() const;

  const PlayOptions options_;
  Cast cast_;
  const std::unique_ptr<trust::attacks::Strategy> strategy_;
  trust::attacks::Random random_;
  std::unique_ptr<Wire> wire_;
  PublicKey coordinator_;
  std::string invitation_;
  std::unordered_map<Wire::Id, Worker> workers_;
  std::vector<Wire::Id> attackers_;
  std::size_t next_look_ = 0;  // Among the attackers.
  std::size_t welcome_ = 0;
  std::unordered_map<Wire::Id, Answer> asked_;  // Connections that wait for an answer.
  std::vector<Wire::Id> free_;                  // Those that do not.
  std::unordered_map<JobId, Job> jobs_;
  std::vector<Submission> refused_;                        // For now: they are sent again.
  std::set<JobId> open_jobs_;                              // Those of honest clients.
  std::unordered_map<TaskId, trust::attacks::Deed> told_;  // What accomplices have answered.
  std::priority_queue<Due> due_;
  std::uint64_t serial_ = 0;
  std::uint32_t submitted_ = 0;  // Tasks of honest clients.
  std::uint32_t submitting_ = 0;
  std::uint32_t numbers_ = 0;
  std::uint32_t honest_started_ = 0;
  std::uint32_t own_started_ = 0;
  Instant start_{};
  std::size_t looking_ = 0;  // At jobs: answers that are still to come.
  Instant looked_{};
  Instant beaten_{};
  Instant standings_looked_{};
  std::optional<Error> broken_;
  Played played_;
};

}  // namespace weft::coordinator::bench
