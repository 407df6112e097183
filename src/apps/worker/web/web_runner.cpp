#include "apps/worker/web/web_runner.h"

#include <algorithm>
#include <utility>

#include "apps/worker/web/imports.h"
#include "common/base/check.h"
#include "common/manifest/manifest.h"
#include "engine/gpu/report.h"
#include "engine/gpu/web/instance.h"
#include "engine/onnx/jobs/model_executor.h"
#include "worker/tasks/capabilities.h"

namespace weft::worker::web {
namespace {

constexpr int replacements_max = 3;
constexpr Duration replacement_delay = std::chrono::seconds(1);

// Measures the built-in matrix product on this CPU, in 10^9 multiplications and additions a second.
double measured_gop_per_s(exec::Executor& executor) {
  constexpr std::uint32_t side = 192;
  auto job = std::make_shared<exec::Job>();
  job->manifest.kind = manifest::Kind::kernel;
  job->manifest.name = "measure";
  job->manifest.kernel = {.name = "matmul_i8", .m = side, .n = side, .k = side, .a = {}, .b = {}};
  job->data.assign(2, ByteVector(std::size_t{side} * side, 3));
  double best = 0;
  for (int round = 0; round < 5; ++round) {
    const Instant began = now();
    // The CPU executor never waits, so the run has ended when start() returns.
    start<Result<exec::Output>>(executor.run(job, {.range = {.first = 0, .count = side}}),
                                [](const Result<exec::Output>&) {});
    best = std::max(best, 2.0 * side * side * side / std::max(seconds(now() - began), 1e-6) * 1e-9);
  }
  return best;
}

std::string name_of(const protocol::Capabilities& device) {
  return device.vendor + "\n" + device.architecture + "\n" + device.description;
}

}  // namespace

bool WebRunner::recall(protocol::Capabilities& capabilities) const {
  if (known_.f32_gflop_per_s <= 0 || known_.device != name_of(capabilities)) return false;
  capabilities.copy_gb_per_s = known_.copy_gb_per_s;
  capabilities.f32_gflop_per_s = known_.f32_gflop_per_s;
  return true;
}

// Keeps the rates for the device that replaces a lost one.
void WebRunner::remember(const protocol::Capabilities& capabilities) {
  known_ = {.device = name_of(capabilities),
            .copy_gb_per_s = capabilities.copy_gb_per_s,
            .f32_gflop_per_s = capabilities.f32_gflop_per_s};
}

WebRunner::~WebRunner() {
  executor_.reset();
  device_.reset();
}

Async<Result<protocol::Capabilities>> WebRunner::open(protocol::DeviceKind kind) {
  if (kind == protocol::DeviceKind::gpu) co_return co_await open_gpu();
  executor_ = exec::create_cpu_executor(bounds_);
  protocol::Capabilities capabilities = cpu_capabilities(bounds_.bytes_max);
  if (!recall(capabilities)) capabilities.f32_gflop_per_s = measured_gop_per_s(*executor_);
  co_return capabilities;
}

Async<Result<protocol::Capabilities>> WebRunner::open_gpu() {
  if (!instance_) instance_ = gpu::web::create_instance();
  WEFT_CO_ASSIGN(auto device, co_await instance_->create_device({.label = "weft worker"}));
  protocol::Capabilities capabilities = capabilities_of(*device, bounds_.bytes_max);
  capabilities.features.emplace_back(manifest::onnx_feature);
  // Most browsers reveal only vendor and architecture.
  if (capabilities.description.empty())
    capabilities.description = capabilities.vendor + " " + capabilities.architecture;
  if (!recall(capabilities)) {
    WEFT_CO_ASSIGN(const gpu::Report report, co_await gpu::measure(*device));
    capabilities.copy_gb_per_s = report.copy_bytes_per_second * 1e-9;
    capabilities.f32_gflop_per_s = report.f32_operations_per_second * 1e-9;
    remember(capabilities);
  }
  device_ = std::move(device);
  executor_ =
      exec::create_gpu_executor(*device_, bounds_, onnx::create_model_executor(*device_, bounds_));
  lost_ = false;
  device_->on_lost(alive_.guard([this](std::string reason) { lost(std::move(reason)); }));
  co_return capabilities;
}

void WebRunner::run(TaskRun task, std::function<void(Result<exec::Output>)> done) {
  check(!order_ && !running_, "a runner runs one task at a time");
  order_ = Order{.task = std::move(task), .done = std::move(done)};
  cancelled_ = false;
  start_order();
}

void WebRunner::start_order() {
  // A lost device may show in a failed task before the device reports it; the report always
  // follows.
  if (!order_ || lost_ || (device_ && device_->lost())) return;
  Order order = *std::exchange(order_, {});
  running_ = true;
  start<Result<exec::Output>>(
      executor_->run(std::move(order.task.job), order.task.options),
      alive_.guard([this, done = std::move(order.done)](Result<exec::Output> output) {
        running_ = false;
        if (output) replacements_ = 0;
        if (cancelled_) output = fail(ErrorCode::cancelled, "The task was cancelled.");
        if (lost_) later({}, [this] { replace_device(); });
        done(std::move(output));
      }));
}

void WebRunner::cancel() {
  cancelled_ = true;
  if (!order_) return;
  later({}, [this] {
    if (order_)
      std::exchange(order_, {})->done(fail(ErrorCode::cancelled, "The task was cancelled."));
  });
}

void WebRunner::lost(std::string reason) {
  lost_ = true;
  if (news_.lost) news_.lost(std::move(reason));
  // The device is not replaced inside its own callback, nor before the task that refers to it has
  // ended.
  if (!running_) later({}, [this] { replace_device(); });
}

void WebRunner::replace_device() {
  if (!lost_ || running_ || replacing_) return;
  replacing_ = true;
  executor_.reset();
  device_.reset();
  const int tries = ++replacements_;
  later(replacement_delay * (tries - 1), [this, tries] {
    start<Result<protocol::Capabilities>>(
        open_gpu(), alive_.guard([this, tries](Result<protocol::Capabilities> capabilities) {
          replacing_ = false;
          if (capabilities) {
            if (news_.back) news_.back(*capabilities);
            return start_order();
          }
          if (tries < replacements_max) return later({}, [this] { replace_device(); });
          if (order_)
            std::exchange(order_, {})
                ->done(fail(ErrorCode::device_lost, "The GPU device was lost."));
          if (news_.gone) news_.gone(capabilities.error());
        }));
  });
}

void WebRunner::later(Duration delay, std::function<void()> work) {
  weft_timer(new TimerCallback{alive_.guard(std::move(work))}, seconds(delay) * 1000);
}

}  // namespace weft::worker::web
