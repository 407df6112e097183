// The rules that every backend with a real GPU must keep, as checks that run natively and in a
// browser from the same source.
#pragma once

#include <span>
#include <string_view>

#include "common/base/async.h"
#include "common/base/result.h"
#include "engine/gpu/device.h"

namespace weft::gpu::conformance {

struct Check {
  std::string_view name;  // A sentence whose words are joined by _.
  // Runs the check on devices that the check creates. Fails with a description of what is wrong, or
  // with unsupported if the GPU lacks the feature.
  Async<Result<>> (*run)(Instance& instance);
};

[[nodiscard]] std::span<const Check> compute_checks();
[[nodiscard]] std::span<const Check> error_checks();

}  // namespace weft::gpu::conformance
