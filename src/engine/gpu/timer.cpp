#include "engine/gpu/timer.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace weft::gpu {
namespace {

// A WebGPU query set holds 4,096 queries, two for each pass.
constexpr std::uint32_t passes_bound = 2048;

}  // namespace

PassTimer::PassTimer(Device& device, Options options)
    : device_(device), passes_max_(std::clamp(options.passes_max, 1U, passes_bound)) {
  if (!device.has("timestamp-query")) return;
  queries_ = device.create_timestamps(2 * passes_max_);
  const std::uint64_t bytes = std::uint64_t{16} * passes_max_;
  resolved_ = device.create_buffer({.size = bytes,
                                    .usage = BufferUsage::query_resolve | BufferUsage::copy_source,
                                    .label = "timer"});
  staging_ = device.create_buffer({.size = bytes,
                                   .usage = BufferUsage::map_read | BufferUsage::copy_destination,
                                   .label = "timer"});
}

TimestampWrites PassTimer::next(std::string_view label) {
  if (!available() || labels_.size() >= passes_max_) return {};
  const auto index = static_cast<std::uint32_t>(2 * labels_.size());
  labels_.emplace_back(label);
  return {&queries_, index, index + 1};
}

void PassTimer::record(Encoder& encoder) {
  if (labels_.empty()) return;
  const auto count = static_cast<std::uint32_t>(2 * labels_.size());
  encoder.resolve(queries_, 0, count, resolved_, 0);
  encoder.copy(resolved_, 0, staging_, 0, std::uint64_t{8} * count);
}

Async<Result<std::vector<PassTime>>> PassTimer::times() {
  std::vector<std::string> labels = std::exchange(labels_, {});
  std::vector<PassTime> passes;
  if (labels.empty()) co_return passes;
  std::vector<std::uint64_t> nanoseconds(2 * labels.size());
  WEFT_CO_OK(co_await device_.read(
      staging_, 0, {reinterpret_cast<std::uint8_t*>(nanoseconds.data()), 8 * nanoseconds.size()}));
  for (std::size_t i = 0; i < labels.size(); ++i)
    passes.push_back({std::move(labels[i]), nanoseconds[2 * i], nanoseconds[2 * i + 1]});
  co_return passes;
}

}  // namespace weft::gpu
