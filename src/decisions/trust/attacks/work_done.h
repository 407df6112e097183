// The amount of work in a simulated run; the unit is one run of one task. The first accepted tasks
// of honest clients, when workers have no reputation yet, are counted apart from the later tasks.
#pragma once

#include <array>
#include <cstdint>

namespace weft::trust::attacks {

class WorkDone {
 public:
  static constexpr std::uint64_t cold_tasks = 10'000;

  void add(double runs) { runs_[tasks_ < cold_tasks ? 0 : 1] += runs; }
  void accepted() { ++tasks_; }
  // The number of accepted tasks.
  [[nodiscard]] std::uint64_t tasks() const { return tasks_; }
  // Work beyond one run of each task, as a share of one run: extra_cold() for the first tasks,
  // extra_warm() for the later ones.
  [[nodiscard]] double extra_cold() const { return extra(runs_[0], cold()); }
  [[nodiscard]] double extra_warm() const { return extra(runs_[1], tasks_ - cold()); }

 private:
  [[nodiscard]] std::uint64_t cold() const { return tasks_ < cold_tasks ? tasks_ : cold_tasks; }
  [[nodiscard]] static double extra(double runs, std::uint64_t tasks) {
    return tasks == 0 ? 0 : runs / static_cast<double>(tasks) - 1;
  }

  std::array<double, 2> runs_{};
  std::uint64_t tasks_ = 0;
};

}  // namespace weft::trust::attacks
