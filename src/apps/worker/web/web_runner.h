// Runs tasks on the Worker's own GPU device, or built-in kernels on the CPU. A lost GPU device is
// replaced: the running task ends with device_lost, and a task that arrives during the replacement
// waits for the new device.
//
// Threading: the Worker's one thread. Lifetime: destroyed only while nothing runs (idle()). A
// dispatch cannot be interrupted in a browser, so a cancelled task runs to its end and its output
// is dropped.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/protocol/capabilities.h"
#include "engine/exec/executor.h"
#include "engine/gpu/device.h"
#include "worker/tasks/alive.h"
#include "worker/tasks/host.h"

namespace weft::worker::web {

struct DeviceNews {
  std::function<void(std::string reason)> lost;
  std::function<void(const protocol::Capabilities&)> back;
  std::function<void(Error)> gone;  // Called if no new device can be opened.
};

// Rates that were measured on an earlier visit, and their device: vendor, architecture and
// description, one line each.
struct KnownRates {
  std::string device{};
  double copy_gb_per_s = 0;
  double f32_gflop_per_s = 0;
};

class WebRunner final : public TaskRunner {
 public:
  WebRunner(exec::Bounds bounds, KnownRates known) : bounds_(bounds), known_(std::move(known)) {}
  ~WebRunner() override;

  // Opens a device, and measures it unless its rates are known. Called once, before the first task.
  // Returns the capabilities that the worker may claim.
  [[nodiscard]] Async<Result<protocol::Capabilities>> open(protocol::DeviceKind kind);
  void on_news(DeviceNews news) { news_ = std::move(news); }

  void run(TaskRun task, std::function<void(Result<exec::Output>)> done) override;
  void cancel() override;
  [[nodiscard]] bool idle() const { return !running_; }

 private:
  struct Order {
    TaskRun task;
    std::function<void(Result<exec::Output>)> done;
  };
  [[nodiscard]] Async<Result<protocol::Capabilities>> open_gpu();
  [[nodiscard]] bool recall(protocol::Capabilities& capabilities) const;
  void remember(const protocol::Capabilities& capabilities);
  void start_order();
  void lost(std::string reason);
  void replace_device();
  void later(Duration delay, std::function<void()> work);

  const exec::Bounds bounds_;
  KnownRates known_;
  DeviceNews news_;
  std::unique_ptr<gpu::Instance> instance_;
  std::unique_ptr<gpu::Device> device_;
  std::unique_ptr<exec::Executor> executor_;  // Declared after its device, to be destroyed first.
  std::optional<Order> order_;                // Accepted task, started when there is a device.
  bool running_ = false;
  bool cancelled_ = false;
  bool lost_ = false;
  bool replacing_ = false;
  int replacements_ = 0;  // Replacements since the last finished task.
  Alive alive_;
};

}  // namespace weft::worker::web
