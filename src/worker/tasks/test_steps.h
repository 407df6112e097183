// Jobs of several steps that cannot be cut, and the outputs that a device would give for them: each
// step makes the outputs from the outputs before it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/proof/merkle.h"
#include "worker/tasks/test_fakes.h"

namespace weft::worker {

inline constexpr std::uint64_t state_bytes = 24;  // Bytes of the outputs of steps_manifest().

// A job of one task whose outputs have 16 and 8 bytes.
inline std::string steps_manifest(std::uint32_t steps, const std::string& verify = "",
                                  std::uint32_t workgroups = 1) {
  const std::string step = R"({"entry":"a","dispatch":[)" + std::to_string(workgroups) + "]}";
  std::string list;
  for (std::uint32_t i = 0; i < steps; ++i) list += (i == 0 ? "" : ",") + step;
  return R"({"weft":1,"kind":"wgsl","name":"steps","shader":{"inline":"x"},"bindings":[)"
         R"({"binding":0,"role":"inout","type":"u32","shape":[4]},{"binding":1,"role":"output","type":"u32","shape":[2]}],)"
         R"("steps":[)" +
         list + "]" + verify + "}";
}

// The outputs after the steps [first, first + count), which begin from `state`.
inline std::vector<ByteVector> run_steps(std::vector<ByteVector> state, std::uint32_t first,
                                         std::uint32_t count) {
  if (state.empty()) state = {ByteVector(16), ByteVector(8)};
  for (std::uint32_t step = first; step < first + count; ++step) {
    for (auto& byte : state[0]) byte = static_cast<std::uint8_t>(byte * 7 + step + 1);
    for (auto& byte : state[1]) byte = static_cast<std::uint8_t>(state[0][0] ^ (step + byte));
  }
  return state;
}
inline Hash root_after(std::uint32_t steps) { return proof::task_root(run_steps({}, 0, steps)); }

// Runs the steps that it is asked for.
class StepRunner final : public TaskRunner {
 public:
  explicit StepRunner(FakeHost& host) : host_(host) {}
  void run(TaskRun task, std::function<void(Result<exec::Output>)> done) override {
    done_ = std::move(done);
    runs.push_back(task);
    host_.after(takes, [this, serial = ++serial_, task] {
      if (serial != serial_ || !done_) return;
      const auto& options = task.options;
      if (refuses_parts && options.step_first > 0)
        return std::exchange(done_, {})(fail(ErrorCode::invalid_argument, "It only runs whole."));
      const auto all = static_cast<std::uint32_t>(task.job->manifest.steps.size());
      std::exchange(done_, {})(exec::Output{
          .outputs =
              run_steps(options.state == nullptr ? std::vector<ByteVector>() : *options.state,
                        options.step_first, options.step_count == 0 ? all : options.step_count),
          .gpu_seconds = 0.01,
          .wall_seconds = 0.02,
          .dispatches = 1});
    });
  }
  void cancel() override {
    host_.later([this, serial = serial_] {
      if (serial == serial_ && done_)
        std::exchange(done_, {})(fail(ErrorCode::cancelled, "The task was cancelled."));
    });
  }

  Duration takes = std::chrono::milliseconds(10);
  bool refuses_parts = false;
  std::vector<TaskRun> runs;

 private:
  FakeHost& host_;
  std::function<void(Result<exec::Output>)> done_;
  std::uint64_t serial_ = 0;
};

}  // namespace weft::worker
