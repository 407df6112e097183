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

void Loop::add(wgpu::Future future, const void* source) {
  pending_.push_back({future, source});
  if (busy_wait_.count() > 0) latest_ = std::chrono::steady_clock::now();
}

bool Loop::collect(std::chrono::nanoseconds timeout) {
  const std::vector<Pending> pending = std::exchange(pending_, {});
  const bool timed = timeout > std::chrono::nanoseconds(0);
  // Dawn can wait for several sources at once only without a timeout. With a timeout the loop waits
  // for the source of the oldest operation, and only briefly if there are other sources.
  std::vector<wgpu::FutureWaitInfo> infos;
  std::vector<std::size_t> indices;
  bool others = false;
  for (std::size_t i = 0; i < pending.size(); ++i) {
    const bool other = timed && pending[i].source != pending.front().source;
    others = others || other;
    if (other || (timed && infos.size() == timed_wait_max)) continue;
    infos.emplace_back().future = pending[i].future;
    indices.push_back(i);
  }
  if (others) timeout = std::min<std::chrono::nanoseconds>(timeout, std::chrono::milliseconds(1));
  instance_.WaitAny(infos.size(), infos.data(),
                    timed ? static_cast<std::uint64_t>(timeout.count()) : 0);

  std::vector<bool> completed(pending.size());
  for (std::size_t i = 0; i < infos.size(); ++i)
    completed[indices[i]] = static_cast<bool>(infos[i].completed);
  std::vector<Pending> left;
  for (std::size_t i = 0; i < pending.size(); ++i) {
    if (!completed[i]) left.push_back(pending[i]);
  }
  const bool any = left.size() < pending.size();
  pending_.insert(pending_.begin(), left.begin(), left.end());
  return any;
}

bool Loop::poll(std::chrono::nanoseconds timeout) {
  using namespace std::chrono_literals;
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  bool any = ready_->drain();
  while (!pending_.empty()) {
    bool completed = collect(0ns);
    while (!completed && !any &&
           std::chrono::steady_clock::now() < std::min(deadline, latest_ + busy_wait_))
      completed = collect(0ns);
    if (!completed && !any) completed = collect(deadline - std::chrono::steady_clock::now());
    any = ready_->drain() || any;
    if (any || std::chrono::steady_clock::now() >= deadline) break;
  }
  if (pending_.empty())
    instance_.ProcessEvents();  // Notices a loss and frees memory while no operation is pending.
  std::erase_if(watched_, [](const auto& health) { return health.expired(); });
  for (std::size_t i = 0; i < watched_.size(); ++i) {
    if (const auto health = watched_[i].lock()) announce_loss(health);
  }
  return ready_->drain() || any;
}

}  // namespace weft::gpu::native
