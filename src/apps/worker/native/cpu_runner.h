// Kernel jobs on this machine's processor, in this process: built-in code only, never a stranger's.
#pragma once

#include "apps/worker/native/thread_runner.h"
#include "common/protocol/messages.h"

namespace weft::worker {

class CpuRunner final : public BlockingRunner {
 public:
  explicit CpuRunner(exec::Bounds bounds);
  [[nodiscard]] Result<exec::Output> run(const TaskRun& task) override;
  void interrupt() override {}  // A kernel's range ends by itself, within its bounds.

 private:
  std::unique_ptr<exec::Executor> executor_;
};

// The processor's name, and its measured rate on the built-in matrix product (int8 operations, counted as multiply and add).
[[nodiscard]] protocol::Capabilities measure_cpu(std::uint64_t memory_bytes);

}  // namespace weft::worker
