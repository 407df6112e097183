// Runs kernel jobs on this machine's CPU, in this process. Only built-in code runs, never a
// stranger's. The work is cut into pieces of about a tenth of a second, after each of which an
// interrupt and the task's wall time are checked.
#pragma once

#include <atomic>

#include "apps/worker/native/thread_runner.h"
#include "common/protocol/capabilities.h"

namespace weft::worker {

class CpuRunner final : public BlockingRunner {
 public:
  explicit CpuRunner(exec::Bounds bounds);
  [[nodiscard]] Result<exec::Output> run(const TaskRun& task) override;
  void interrupt() override { interrupted_ = true; }

 private:
  std::atomic<bool> interrupted_ = false;
  std::unique_ptr<exec::Executor> executor_;
};

// Returns the CPU's name and its measured rate on the built-in matrix product (int8 operations,
// with multiply and add counted separately).
[[nodiscard]] protocol::Capabilities measure_cpu(std::uint64_t memory_bytes);

}  // namespace weft::worker
