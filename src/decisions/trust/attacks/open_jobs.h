// The jobs of a simulated run: as many of honest clients at a time as the setup says, and an
// attacker's own beside them.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "decisions/trust/attacks/arena_context.h"

namespace weft::trust::attacks {

inline constexpr std::uint32_t step_groups = 32;  // Groups of steps of a job that is not cut.
inline constexpr std::uint32_t costly = 10;  // A costly job costs so many times as much as others.

struct SimulatedJob {
  std::uint32_t client = 0;
  std::uint32_t tasks = 0;
  std::uint32_t accepted = 0;
  bool own = false;  // An attacker's.
  bool devices_differ = false;
  bool is_costly = false;
  MicroCredits value = 0;  // The value of one replica of a task.
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> delivered;  // Workers, by task.
  // Workers whose states are invented, by task of a job of steps.
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> invented;

  // What its accepted tasks cost, as if it were not costly.
  [[nodiscard]] double price() const {
    return static_cast<double>(value) * accepted / (is_costly ? costly : 1);
  }
};

class OpenJobs {
 public:
  explicit OpenJobs(ArenaContext& context) : context_(context) {}

  // The next job of an honest client, and before it now and then one of the attacker's.
  void submit();
  [[nodiscard]] bool wants_more() const { return submitted_ < context_.setup.tasks; }
  // Null once the job has ended.
  [[nodiscard]] SimulatedJob* of(const TaskId& task);
  // Takes the job out of the scheduler and the referee; nothing if it has ended before.
  [[nodiscard]] std::optional<SimulatedJob> end(const JobId& id);
  // Jobs of honest clients that are open.
  [[nodiscard]] std::uint32_t open() const { return open_; }
  // The sum of the prices of all accepted tasks in open jobs of honest clients.
  [[nodiscard]] double open_price() const;
  // Whether the right answer to this task is another one on devices of other vendors.
  [[nodiscard]] bool differs(const SimulatedJob& job, const TaskId& task) const;

 private:
  void add(std::uint32_t tasks, std::uint32_t client, bool own);

  ArenaContext& context_;
  std::unordered_map<std::uint32_t, SimulatedJob> jobs_;
  std::uint32_t submitted_ = 0;  // Tasks of honest clients.
  std::uint32_t open_ = 0;
  std::uint32_t jobs_started_ = 0;
  std::uint32_t honest_started_ = 0;
  std::uint32_t own_started_ = 0;
};

}  // namespace weft::trust::attacks
