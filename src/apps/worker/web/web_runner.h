// Runs tasks on the Worker's own device, or the built-in kernels on its processor. A lost GPU
// device is replaced: what ran ends with device_lost, what comes meanwhile waits for the new one.
//
// Threading: the Worker's one thread. Lifetime: destroyed only while nothing runs (idle()).
// A dispatch cannot be interrupted in a browser: a cancelled task runs to its end, and its output
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
  std::function<void(Error)> gone;  // No new device could be had.
};

// Rates that were measured on an earlier visit, and on what: vendor, architecture and description,
// a line each.
struct KnownRates {
  std::string device{};
  double copy_gb_per_s = 0;
  double f32_gflop_per_s = 0;
};

class WebRunner final : public TaskRunner {
 public:
  WebRunner(exec::Bounds bounds, KnownRates known) : bounds_(bounds), known_(std::move(known)) {}
  ~WebRunner() override;

  // Opens a device, and measures it unless its rates are known; once, before the first task; the
  // capabilities are what the worker may claim.
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
  std::unique_ptr<exec::Executor> executor_;  // Dies before its device.
  std::optional<Order> order_;                // Accepted; started as soon as there is a device.
  bool running_ = false;
  bool cancelled_ = false;
  bool lost_ = false;
  bool replacing_ = false;
  int replacements_ = 0;  // In a row, without a task done between.
  Alive alive_;
};

}  // namespace weft::worker::web
