// Kernel jobs on this machine's processor, in this process: built-in code only, never a stranger's.
// In pieces of a tenth of a second or so, between which an interrupt and the task's wall time are
// heeded.
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

// The processor's name, and its measured rate on the built-in matrix product (int8 operations,
// counted as multiply and add).
[[nodiscard]] protocol::Capabilities measure_cpu(std::uint64_t memory_bytes);

}  // namespace weft::worker
