// The workers of a simulated run, honest ones and attackers: their keys and connections, and the
// standing of each worker as the scheduler knows it.
//
// A worker is known by its number; numbers are not used again. Not safe to share between threads.
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
// An amount and its time. The field that holds it names the unit of the amount.
struct Timed {
  double time = 0;
  double amount = 0;
};

struct SimulatedWorker {
  PublicKey key;
  double rate = 1;
  double price_of_stake = 0;  // The worker's stake, in micro-credits.
  std::uint32_t vendor = 0;   // The vendor of the worker's device.
  std::uint32_t number = 0;   // The number of the attacker that the worker belongs to.
  bool attacker = false;
  bool crashes = false;
  bool connected = false;
  bool convicted = false;
  bool busy = false;
  bool audits = false;       // True if the worker ever had the standing to audit.
  std::uint64_t serial = 0;  // The serial of the worker's current task.
  LeasedRun running;
  std::deque<LeasedRun> queue;
  std::unordered_set<TaskId> undecided;
  std::deque<Timed> held;          // Pay that is held, in micro-credits.
  std::vector<std::size_t> wrong;  // Indexes of its wrong tasks in Corrections.
  std::deque<Timed> paid;          // Paid tasks not computed again, a row for each minute.
  std::uint32_t refused = 0;
  std::uint32_t cheated = 0;
  double joined = 0;
};

class Roster {
 public:
  explicit Roster(ArenaContext& context) : context_(context) {}

  // Adds an honest worker with the reputation `start`.
  void join_honest(double start, bool invited);
  // Adds a wallet of the attacker with this number. All wallets of an attacker share its number.
  void join_attacker(std::uint32_t number, double start);
  // Connects the worker again after it was lost.
  void connect(std::uint32_t number);
  void disconnect(std::uint32_t number, scheduler::Departure departure);
  // Records that the worker's connection broke. The scheduler knows this already.
  void lost(std::uint32_t number);
  // An attacker leaves with its stake, except the locked part. Another wallet may follow.
  void leave(std::uint32_t number);
  // Disconnects a wallet. Another wallet of the same attacker joins if Plan::returns is set.
  void replace(std::uint32_t number);
  // Tells the scheduler the worker's standing and the number of tasks that it may hold.
  void refresh(std::uint32_t number);
  // Records that a task of the worker waits to be decided; ignored unless the worker is a newcomer.
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
