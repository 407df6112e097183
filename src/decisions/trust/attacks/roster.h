// The workers of a simulated run, honest ones and attackers: who they are, whether they are
// connected, and what the scheduler is told of their standing.
//
// A worker is known by its number; numbers are not used again. Not for several threads.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_set>
#include <vector>

#include "decisions/trust/attacks/arena_context.h"

namespace weft::trust::attacks {

// A task that a worker holds a lease of.
struct LeasedRun {
  TaskId task;
  std::uint32_t attempt = 0;
  bool canary = false;
};
// An amount at a time; of what, the field says.
struct Timed {
  double time = 0;
  double amount = 0;
};

struct SimulatedWorker {
  PublicKey key;
  double rate = 1;
  double price_of_stake = 0;  // What it has staked, in credits.
  std::uint32_t vendor = 0;   // The vendor of its device.
  std::uint32_t number = 0;   // An attacker has one.
  bool attacker = false;
  bool crashes = false;
  bool connected = false;
  bool convicted = false;
  bool busy = false;
  bool audits = false;       // Has ever had the standing to.
  std::uint64_t serial = 0;  // The serial of what it runs.
  LeasedRun running;
  std::deque<LeasedRun> queue;
  std::unordered_set<TaskId> undecided;
  std::deque<Timed> held;          // Pay that is held, in micro-credits.
  std::vector<std::size_t> wrong;  // Places of its wrong tasks in Corrections.
  std::deque<Timed> paid;          // Tasks that were not computed again yet, by the minute.
  std::uint32_t refused = 0;
  std::uint32_t cheated = 0;
  double joined = 0;
};

class Roster {
 public:
  explicit Roster(ArenaContext& context) : context_(context) {}

  // `start`: its reputation.
  void join_honest(double start, bool invited);
  // `number`: the attacker's; its wallets share it.
  void join_attacker(std::uint32_t number, double start);
  // The worker comes back after it was lost.
  void connect(std::uint32_t number);
  void disconnect(std::uint32_t number, scheduler::Departure departure);
  // Its connection broke; the scheduler knows it already.
  void lost(std::uint32_t number);
  // An attacker goes with its stake, less what is at risk; another wallet may follow.
  void leave(std::uint32_t number);
  // Another wallet of the same attacker, if the plan has such.
  void replace(std::uint32_t number);
  // Tells the scheduler of the worker's standing and of how many tasks it may hold.
  void refresh(std::uint32_t number);
  // A newcomer's task waits until it is decided.
  void await(const TaskId& task, std::uint32_t number);
  void decided(const TaskId& task, std::uint32_t number);

  [[nodiscard]] SimulatedWorker& at(std::uint32_t number) { return workers_[number]; }
  [[nodiscard]] const std::deque<SimulatedWorker>& all() const { return workers_; }
  // Workers that ever had the standing to audit.
  [[nodiscard]] const std::vector<std::uint32_t>& auditors() const { return auditors_; }

 private:
  void admit(SimulatedWorker worker, double start);
  [[nodiscard]] scheduler::Standing standing(const SimulatedWorker& worker) const;

  ArenaContext& context_;
  std::deque<SimulatedWorker> workers_;
  std::vector<std::uint32_t> auditors_;
};

}  // namespace weft::trust::attacks
