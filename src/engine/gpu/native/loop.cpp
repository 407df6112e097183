#include "engine/gpu/native/loop.h"

#include <algorithm>
#include <utility>

namespace weft::gpu::native {
namespace {

constexpr std::size_t timed_wait_max = 64;  // Dawn's bound for one WaitAny() with a timeout.

}  // namespace

Loop::Loop() {
  const wgpu::InstanceFeatureName timed_wait = wgpu::InstanceFeatureName::TimedWaitAny;
  wgpu::InstanceLimits limits;
  limits.timedWaitAnyMaxCount = timed_wait_max;
  wgpu::InstanceDescriptor descriptor;
  descriptor.requiredFeatureCount = 1;
  descriptor.requiredFeatures = &timed_wait;
  descriptor.requiredLimits = &limits;
  dawn_ = std::make_unique<dawn::native::Instance>(&descriptor);
  instance_ = wgpu::Instance(dawn_->Get());
}

void Loop::add(wgpu::Future future) {
  wgpu::FutureWaitInfo info;
  info.future = future;
  pending_.push_back(info);
}

bool Loop::collect(std::chrono::nanoseconds timeout) {
  auto waiting = std::exchange(pending_, {});
  const auto nanoseconds = static_cast<std::uint64_t>(std::max<std::int64_t>(0, timeout.count()));
  // With a timeout, the oldest ones; they end first. Dawn refuses to wait for several devices or kinds at once, then
  // the oldest alone is waited for.
  wgpu::WaitStatus status = wgpu::WaitStatus::Success;
  if (nanoseconds == 0) {
    status = instance_.WaitAny(waiting.size(), waiting.data(), 0);
  } else {
    status = instance_.WaitAny(std::min(waiting.size(), timed_wait_max), waiting.data(), nanoseconds);
    if (status == wgpu::WaitStatus::Error) instance_.WaitAny(1, waiting.data(), std::min<std::uint64_t>(nanoseconds, 1'000'000));
  }
  const bool any = std::erase_if(waiting, [](const wgpu::FutureWaitInfo& info) { return static_cast<bool>(info.completed); }) > 0;
  pending_.insert(pending_.begin(), waiting.begin(), waiting.end());
  return any;
}

bool Loop::poll(std::chrono::nanoseconds timeout) {
  using namespace std::chrono_literals;
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  bool any = ready_->drain();
  while (!pending_.empty()) {
    bool completed = collect(0ns);
    if (!completed && !any) completed = collect(deadline - std::chrono::steady_clock::now());
    any = ready_->drain() || any;
    if (any || std::chrono::steady_clock::now() >= deadline) break;
  }
  if (pending_.empty()) instance_.ProcessEvents();  // Notices a loss and frees memory while nobody waits.
  std::erase_if(watched_, [](const auto& health) { return health.expired(); });
  for (std::size_t i = 0; i < watched_.size(); ++i) {
    if (const auto health = watched_[i].lock()) announce_loss(health);
  }
  return ready_->drain() || any;
}

}  // namespace weft::gpu::native
