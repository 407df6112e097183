#include "engine/jinja/meter.h"

namespace weft::jinja {

Result<> Meter::step() {
  if (++steps_ > limits_.steps_max)
    return fail(ErrorCode::resource_exhausted,
                "it takes more than {} steps (RenderLimits::steps_max)", limits_.steps_max);
  if (depth_ > limits_.depth_max)
    return fail(ErrorCode::resource_exhausted,
                "it nests deeper than {} levels (RenderLimits::depth_max)", limits_.depth_max);
  return charge(0);
}

Result<> Meter::charge(std::uint64_t bytes) {
  steps_ += bytes / 64;  // Counts work that grows with a text's length.
  if (bytes > limits_.memory_bytes_max || heap_.bytes() > limits_.memory_bytes_max - bytes)
    return fail(ErrorCode::resource_exhausted,
                "it needs more than {} bytes (RenderLimits::memory_bytes_max)",
                limits_.memory_bytes_max);
  if (steps_ > limits_.steps_max)
    return fail(ErrorCode::resource_exhausted,
                "it takes more than {} steps (RenderLimits::steps_max)", limits_.steps_max);
  return {};
}

}  // namespace weft::jinja
