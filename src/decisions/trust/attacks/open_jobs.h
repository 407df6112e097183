// The jobs of a simulated run: jobs of honest clients, of which the setup gives the number that are
// open at a time, and the attackers' own jobs.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "decisions/trust/attacks/arena_context.h"

namespace weft::trust::attacks {

inline constexpr std::uint32_t step_groups = 32;  // Groups of steps in a task that cannot be cut.
inline constexpr std::uint32_t costly = 10;  // The price of a costly job, relative to other jobs.

struct SimulatedJob {
  std::uint32_t client = 0;
  std::uint32_t tasks = 0;
  std::uint32_t accepted = 0;
  bool own = false;  // True for a job of an attacker.
  bool devices_differ = false;
  bool is_costly = false;
  MicroCredits value = 0;  // The value of one replica of a task.
  // Workers that delivered, by task.
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> delivered;
  // Workers that handed in invented states, by task; only for jobs of steps.
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> invented;

  // The price of the job's accepted tasks, as if the job were not costly.
  [[nodiscard]] double price() const {
    return static_cast<double>(value) * accepted / (is_costly ? costly : 1);
  }
};

class OpenJobs {
 public:
  explicit OpenJobs(ArenaContext& context) : context_(context) {}

  // Submits the next job of an honest client; now and then, a job of an attacker precedes it.
  void submit();
  [[nodiscard]] bool wants_more() const { return submitted_ < context_.setup.tasks; }
  // Returns null if the job has ended.
  [[nodiscard]] SimulatedJob* of(const TaskId& task);
  // Removes the job from the scheduler and the referee. No value if the job has already ended.
  [[nodiscard]] std::optional<SimulatedJob> end(const JobId& id);
  // The number of open jobs of honest clients.
  [[nodiscard]] std::uint32_t open() const { return open_; }
  // The sum of the prices of all accepted tasks in open jobs of honest clients.
  [[nodiscard]] double open_price() const;
  // True if the right answer to this task differs by the vendor of the device.
  [[nodiscard]] bool differs(const SimulatedJob& job, const TaskId& task) const;

 private:
  void add(std::uint32_t tasks, std::uint32_t client, bool own);

  ArenaContext& context_;
  std::unordered_map<std::uint32_t, SimulatedJob> jobs_;
  std::uint32_t submitted_ = 0;  // Submitted tasks of honest clients.
  std::uint32_t open_ = 0;
  std::uint32_t jobs_started_ = 0;
  std::uint32_t honest_started_ = 0;
  std::uint32_t own_started_ = 0;
};

}  // namespace weft::trust::attacks
